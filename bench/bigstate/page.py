"""The page of the figures that there are."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import mean, median
from typing import Any, Final

import pyspark

from bench.bigstate.cases import Case
from bench.bigstate.measure import LARGE, SMALL, WARM_UP
from bench.bigstate.process import BUDGET, LIMIT, OURS, STORES
from bench.nexmark.figures import percentile
from bench.nexmark.stores import NOTHING
from bench.results import Results
from bench.revision import ENGINE, revision

PAGE: Final = Path(__file__).parents[2] / "docs" / "benchmarks-bigstate.md"
HEAD: Final = f"""# Benchmarks with more state than memory

Written by `make bench-bigstate`, do not edit. Made by
[bench/bigstate](../bench/bigstate).

{{revision}}
Spark {pyspark.__version__}.

A count and a sum by key, in {LIMIT >> 20} MiB of memory for everything (a memory cgroup, which the
page cache counts against, as in any container): a heap of 1 GiB, a budget for state of
{BUDGET >> 20} MiB, also for RocksDB where it is bounded; it writes a changelog. 4 partitions, 2
cores. Each key comes once, in batches of {LARGE:,} rows; then the batches below follow, on the same
state. *no store* is a provider that keeps nothing. HDFSBacked has no bound for its memory, and no
room here. MB are read from the disk and written to it by the process, local files included.

Below the number of another provider is how many times better Keyfold's is.
"""
# From here on no decimals are told.
WHOLE: Final = 100
TEXTS: Final = {
    "evenly": f"## Batches of {LARGE:,} keys at random",
    "skewed": f"""## Batches of {LARGE:,} skewed keys

The key of rank r comes with a probability of 1/r, as in Zipf's law with the exponent 1; after
{WARM_UP["skewed"]} batches that do not count.""",
    "small": f"""## Batches of {SMALL:,} keys at random

In a new process, after {WARM_UP["small"]} batches that do not count. Maintenance is every 3 s, and
100 versions are retained. *Of its deltas*: what is written in all, of the files of changes alone;
and the same less what is written with no store. A restart is the time from the start of the query,
in one more process, to the end of its first batch.""",
}


def page(results: Results[Case]) -> str:
    """Write the text of the page."""
    parts = [HEAD.format(revision=revision((*ENGINE, "bench/bigstate")))]
    for kind, text in TEXTS.items():
        parts += [text, "", *table(kind, results), ""]
    return "\n".join(parts)


def table(kind: str, results: Results[Case]) -> Iterator[str]:
    """A line for each figure of a state, a column for each provider."""
    yield f"| keys | | {' | '.join(STORES)} |"
    yield f"| ---: | --- |{' ---: |' * len(STORES)}"
    for case in dict.fromkeys(replace(it, store=OURS) for it in results.cases()):
        found = {it: results.of(replace(case, store=it)) for it in STORES}
        floor = found[NOTHING]
        beside = mean(floor[kind]["written"]) if floor else None
        numbers = {store: dict(figures(kind, it, beside)) for store, it in found.items() if it}
        if OURS not in numbers:
            continue
        for name, ours in numbers[OURS].items():
            cells = [
                cell(numbers[it].get(name), ours if it != OURS else None)
                if it in numbers
                else ("failed" if results.has_failed(replace(case, store=it)) else "not run")
                for it in STORES
            ]
            yield f"| {case.keys:,} | {name} | {' | '.join(cells)} |"


def figures(kind: str, found: dict[str, Any], beside: float | None) -> Iterator[tuple[str, float]]:
    """What is told of a kind of batches, with its unit; `beside`: bytes written with no store."""
    of = found[kind]
    yield "ms a batch, median", median(of["ms"])
    yield "ms, 99 of 100", percentile(of["ms"], 0.99)
    yield "MB read a batch", mean(of["read"]) / 1e6
    yield "MB written a batch", mean(of["written"]) / 1e6
    if kind != "small":
        yield "most memory of all, MB", found["peak"] / 1e6
        return
    if found["delta"]:
        yield "of its deltas, times", mean(of["written"]) / found["delta"]
        if beside is not None:
            yield "less no store's, times", (mean(of["written"]) - beside) / found["delta"]
        yield "checkpoint, MB", found["checkpoint"] / 1e6
    yield "restart, s", found["restart"]


def cell(number: float | None, ours: float | None) -> str:
    """A number, and how many times it is Keyfold's."""
    if number is None:
        return ""
    text = f"{number:,.0f}" if number >= WHOLE else f"{number:.3g}"
    return f"{text}<br>{number / ours:.2f}x" if ours and number else text
