"""Small batches of a large state: what is written for them, and what a restart takes."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any, Final

from bench.bigstate.cgroup import Cgroup
from bench.bigstate.large import ROWS as LOADED
from bench.bigstate.process import (
    LIMIT,
    OURS,
    PARTITIONS,
    STORES,
    batches,
    console,
    settings,
)
from bench.bigstate.query import Job
from bench.nexmark.figures import percentile

ROWS: Final = 10_000
WARM_UP: Final = 50
SUFFIXES: Final = (".delta", ".changelog")
INTERVAL: Final = {"spark.sql.streaming.stateStore.maintenanceInterval": "3s"}
KEYS: Final = (10_000_000, 50_000_000)
HEAD: Final = (
    "keys",
    "provider",
    "ms a batch, median",
    "99 of 100",
    "of the median",
    "KB written a batch",
    "of its deltas",
    "checkpoint, MB",
    "restart, s",
    "Keyfold writes less",
)
TEXT: Final = f"""
The same count goes on with batches of {ROWS:,} keys at random, after {WARM_UP} that do not count.
Maintenance is every 3 s, and 100 versions are retained. Written is what the process has written to
the disk, local files included; a restart is the time from the start of the query, in a new process,
to the end of its first batch.
"""


def measure(store: str, keys: int, measured: int) -> dict[str, Any]:
    """Load the state, go on in a second process, and start once more in a third."""
    group = Cgroup(LIMIT)
    with tempfile.TemporaryDirectory(prefix="keyfold-bench-") as scratch:
        folder = Path(scratch)
        checkpoint = folder / "checkpoint"

        def run(rows: int, count: int) -> list[dict[str, Any]]:
            chosen = settings(store, folder) | INTERVAL
            job = Job(chosen, str(checkpoint), rows, keys, count, is_skewed=False)
            return list(batches(store, job, group))

        run(LOADED, keys // LOADED)
        found = run(ROWS, WARM_UP + measured)[WARM_UP:]
        files = [(it.suffix, it.stat().st_size) for it in (checkpoint / "state").rglob("*.*")]
        restart = run(ROWS, 1)[0]["s_since_start"]
    group.remove()
    times = [it["ms"] for it in found]
    written = mean(it["written"] for it in found)
    deltas = PARTITIONS * mean(size for suffix, size in files if suffix in SUFFIXES)
    return {
        "median": median(times),
        "most": percentile(times, 0.99),
        "written": written / 1e3,
        "amplification": written / deltas,
        "checkpoint": sum(size for _, size in files) / 1e6,
        "restart": restart,
    }


def lines(counts: Sequence[int], measured: int) -> Iterator[str]:
    """Run each case, in turn, so that nothing runs beside it; lines of the table."""
    yield f"| {' | '.join(HEAD)} |"
    yield f"| ---: | --- |{' ---: |' * (len(HEAD) - 2)}"
    for keys in counts:
        found = {it: measure(it, keys, measured) for it in STORES if it != "RocksDB, bounded"}
        for store, it in found.items():
            ratio = "" if store == OURS else f"{it['written'] / found[OURS]['written']:.1f}x"
            row = (
                f"| {keys:,} | {store} | {it['median']:,.0f} | {it['most']:,.0f} | "
                f"{it['most'] / it['median']:.2f} | {it['written']:,.0f} | "
                f"{it['amplification']:.1f}x | {it['checkpoint']:,.0f} | {it['restart']:.1f} | "
                f"{ratio} |"
            )
            console.print(row, soft_wrap=True)
            yield row
