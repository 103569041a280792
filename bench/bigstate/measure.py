"""A case's figures: a state is made, and goes on with batches of three kinds."""

import tempfile
from pathlib import Path
from statistics import mean
from typing import Any, Final

from bench.bigstate.cases import Case
from bench.bigstate.cgroup import Cgroup
from bench.bigstate.process import LIMIT, PARTITIONS, QueryFailedError, batches, settings
from bench.bigstate.query import Job

LARGE: Final = 500_000
SMALL: Final = 10_000
# Batches that do not count: what the batches before them have left in memory goes.
WARM_UP: Final = {"skewed": 4, "small": 50}
SUFFIXES: Final = (".delta", ".changelog")
INTERVAL: Final = {"spark.sql.streaming.stateStore.maintenanceInterval": "3s"}


def measured(case: Case) -> dict[str, Any]:
    """Run a case to its end; an `error` if a query fails."""
    group = Cgroup(LIMIT)
    try:
        with tempfile.TemporaryDirectory(prefix="keyfold-bench-") as scratch:
            return _run(case, Path(scratch), group)
    except QueryFailedError as failed:
        return {"error": str(failed)}
    finally:
        group.remove()


def _run(case: Case, folder: Path, group: Cgroup) -> dict[str, Any]:
    checkpoint = folder / "checkpoint"
    evenly = case.keys + case.large * LARGE

    def run(count: int, rows: int, *, is_small: bool) -> list[dict[str, Any]]:
        chosen = settings(case.store, folder) | (INTERVAL if is_small else {})
        until = 1 << 60 if is_small else evenly
        job = Job(chosen, str(checkpoint), rows, case.keys, until, count)
        return list(batches(case.store, job, group))

    first = case.keys // LARGE
    skewed = WARM_UP["skewed"] + case.large
    found = run(first + case.large + skewed, LARGE, is_small=False)
    peak = group.peak
    small = run(WARM_UP["small"] + case.small, SMALL, is_small=True)[WARM_UP["small"] :]
    files = [(it.suffix, it.stat().st_size) for it in (checkpoint / "state").rglob("*.*")]
    restart = run(1, SMALL, is_small=True)[0]["s_since_start"]
    sizes = [size for suffix, size in files if suffix in SUFFIXES]
    return {
        "evenly": _figures(found[first : first + case.large]),
        "skewed": _figures(found[-case.large :]),
        "small": _figures(small),
        "peak": peak,
        "checkpoint": sum(size for _, size in files),
        "delta": PARTITIONS * mean(sizes) if sizes else 0,
        "restart": restart,
    }


def _figures(found: list[dict[str, Any]]) -> dict[str, list[float]]:
    return {name: [it[name] for it in found] for name in ("ms", "read", "written")}
