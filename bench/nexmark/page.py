"""The page of Nexmark's figures, from the results there are."""

import os
import platform
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import pyspark

from bench.nexmark.cases import AFTER, BEFORE, RATE, RESCALING, SEED, Case
from bench.nexmark.figures import FIGURES, RESCALES, Figure
from bench.nexmark.queries import QUERIES, STATEFUL
from bench.nexmark.stores import OURS, ROOT, STORES
from bench.results import Results
from bench.revision import revision

PAGE: Final = ROOT / "docs" / "benchmarks-nexmark.md"
HEAD: Final = """
# Benchmarks of Nexmark

![Events a second of each query](img/benchmarks-nexmark.svg)

Written by `make nexmark`, do not edit. Made by [bench/nexmark](../bench/nexmark).

{revision}
Spark {spark}, {system} on {machine}, {memory} GiB of memory; a heap of 2 GB, `local[2]`,
checkpoints on a local disk.

To repeat it: `make nexmark`, alone on the machine; a run that was interrupted goes on.
`make nexmark PARTITIONS=200` adds the tables of 200 partitions, `TIMES=10` takes ten times the
28 batches. `make nexmark-check` compares each answer with the same question in batch, by all three
providers.

Events are made by SQL from the numbers of Spark's `rate-micro-batch` source, with seed {seed}: of
50 events one is a person, 3 are auctions and 46 are bids, {rate:,} a second of event time, as the
generators of Apache Beam and of nexmark/nexmark make them. What that takes is in all figures.
Answers go to the `noop` sink. Each case is a process of its own: first batches that do not count,
then those that do, one after the other as fast as they go.

Below the number of another provider is how many times better Keyfold's is. Of fewer than 100
batches the p99 is the longest. RocksDB writes a changelog and counts its rows. Maintenance is every
10 s. *no store* is a provider that keeps nothing: what a query takes with it, it takes with any
store; joins and final answers find no rows in it, so that what comes after them has nothing to do.
A restart is timed from the start of the query in a new process, which has no code compiled yet.
A rescale is timed in the process of the query: RocksDB's is Spark's own repartition, and for
HDFSBacked there is none. `spark.sql.exchange.reuse` is off: Spark's watermark does not go through
an exchange that is used twice.
"""


def page(results: Results[Case]) -> str:
    """Write the text of the page."""
    return "\n".join([head(), *unmeasured(results), *sections(results), *questions()])


def head() -> str:
    """What was measured, and how."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    told = {"revision": revision(), "spark": pyspark.__version__, "memory": memory}
    told |= {"system": platform.system(), "machine": platform.machine()}
    return HEAD.lstrip().format(**told, seed=SEED, rate=RATE)


def unmeasured(results: Results[Case]) -> Iterator[str]:
    """The queries with state that have no figures here."""
    measured = {it.query for it in results.cases()}
    if names := [it.name for it in STATEFUL if it.name not in measured]:
        text = ", ".join(names)
        yield f"Not measured in this run: {text}. `make nexmark-check` compares them too.\n"


def sections(results: Results[Case]) -> Iterator[str]:
    """A table for each figure and number of partitions, and those of rescales."""
    ran = results.cases()
    for size, to in dict.fromkeys((it.size, it.to) for it in ran):
        names = {it.query for it in ran if (it.size, it.to) == (size, to)}
        cases = [Case(it.name, OURS, size, to) for it in STATEFUL if it.name in names]
        text = f"{BEFORE} to {AFTER} partitions" if to else size.text
        for figure in RESCALES if to else FIGURES:
            yield from (f"## {figure.name}, {text}", "", *table(figure, cases, results), "")


def table(figure: Figure, cases: list[Case], results: Results[Case]) -> Iterator[str]:
    """A row for each case, a column for each provider."""
    stores = RESCALING if cases[0].to else tuple(STORES)
    yield f"| query | {' | '.join(stores)} |"
    yield f"| --- |{' ---: |' * len(stores)}"
    for case in cases:
        cells = [figure.cell(replace(case, store=it), results) for it in stores]
        yield f"| {case.query} | {' | '.join(cells)} |"


def questions() -> Iterator[str]:
    """What each query asks, and how it differs from Flink's."""
    yield from ("## The queries", "", "| query | asks for | state | beside Flink's SQL |")
    yield "| --- | --- | --- | --- |"
    for it in QUERIES:
        state = "left out" if not it.sql else f"{it.mode} mode" if it.has_state else "none"
        yield f"| {it.name} | {it.asks} | {state} | {it.note} |"
    yield ""
