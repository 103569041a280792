"""Large batches of keys that are mostly not in memory."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.bigstate.cgroup import Cgroup
from bench.bigstate.process import BUDGET, LIMIT, OURS, STORES, batches, console, settings
from bench.bigstate.query import Job

ROWS: Final = 500_000
KEYS: Final = (20_000_000, 50_000_000)
HEAD: Final = (
    "keys",
    "which come",
    "provider",
    "ms a batch, median",
    "90 of 100",
    "longest",
    "MB read a batch",
    "MB written a batch",
    "most memory of all, MB",
    "Keyfold faster",
)
TEXT: Final = f"""
A count and a sum by key, in a memory cgroup of {LIMIT >> 20} MiB, which the page
cache counts against as in any container: a heap of 1 GiB, a budget for state of
{BUDGET >> 20} MiB, also for RocksDB where it is bounded; it writes a changelog.
Each key has come once before the batches that are measured, of
{ROWS:,} rows each. Skewed: the key of rank r comes with a probability of 1/r, as in
Zipf's law with the exponent 1.
"""


def measure(store: str, keys: int, measured: int, *, is_skewed: bool) -> dict[str, Any]:
    """Run the count with a provider, in a cgroup of its own."""
    group = Cgroup(LIMIT)
    with tempfile.TemporaryDirectory(prefix="keyfold-bench-") as scratch:
        folder = Path(scratch)
        first = keys // ROWS
        checkpoint = str(folder / "checkpoint")
        job = Job(settings(store, folder), checkpoint, ROWS, keys, first + measured, is_skewed)
        found = list(batches(store, job, group))[first:]
        peak = group.peak
    group.remove()
    times = sorted(it["ms"] for it in found)
    return {
        "median": median(times),
        "most": times[len(times) * 9 // 10],
        "longest": times[-1],
        "read": median(it["read"] for it in found) / 1e6,
        "written": sum(it["written"] for it in found) / len(found) / 1e6,
        "peak": peak / 1e6,
    }


def lines(counts: Sequence[int], measured: int) -> Iterator[str]:
    """Run each case, in turn, so that nothing runs beside it; lines of the table."""
    yield f"| {' | '.join(HEAD)} |"
    yield "| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for keys in counts:
        for is_skewed in (False, True):
            found = {it: measure(it, keys, measured, is_skewed=is_skewed) for it in STORES}
            ours = found[OURS]["median"]
            for store, it in found.items():
                ratio = "" if store == OURS else f"{it['median'] / ours:.1f}x"
                numbers = [it["median"], it["most"], it["longest"], it["read"], it["written"]]
                row = (
                    f"| {keys:,} | {'skewed' if is_skewed else 'evenly'} | {store} | "
                    + " | ".join(f"{number:,.0f}" for number in [*numbers, it["peak"]])
                    + f" | {ratio} |"
                )
                console.print(row, soft_wrap=True)
                yield row
