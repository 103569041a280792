"""The page: constants, predictions beside what was measured, and a cluster."""

from collections.abc import Iterator
from typing import Final

from bench.model.checks import DELTA_ROW, FILE, ROW, Check, checks
from bench.model.measured import Costs, costs
from bench.model.merges import Workload, written
from bench.model.plan import (
    Cluster,
    Query,
    batch_s,
    dollars,
    of_hdfs,
    of_keyfold,
    requests_s,
    rescale_s,
    restart_s,
)
from bench.pictures.tables import DOCS

PAGE: Final = DOCS / "planning.md"
MICRO: Final = 1e6
NEAR: Final = 1.5
ROUND: Final = 100
"""From here on digits behind the point say nothing."""
CLUSTER: Final = Cluster(executors=100, cores=16, budget=32 << 30, latency=0.025, bandwidth=1.25e9)
QUERIES: Final = (
    Query(100_000_000_000, 1_000_000, 3200, 10, row=100, beside=150),
    Query(100_000_000_000, 60_000_000, 3200, 60, row=100, beside=150),
)
HEAD: Final = """
# Planned for a larger cluster

Written by `make model`, do not edit. Made by [bench/model](../bench/model).

Nobody has run Keyfold on a hundred executors. This page says what the figures of one small machine
come to there, and how far such sums can be trusted: [below](#predicted-and-measured) they stand
beside what was measured at sizes that their constants are not from. To size a query of your own,
see [Sizing](cluster.md#sizing).

## Constants

From the pages of figures ([state store](benchmarks.md), [places](benchmarks-checkpoints.md),
[limits](benchmarks-limits.md)), of a count by an integer on 2 cores:

| of a provider | HDFSBacked | RocksDB, changelog | Keyfold |
| --- | ---: | ---: | ---: |
"""
CLUSTER_TEXT: Final = (
    "{0.executors} executors of {0.cores} cores, {2} GiB for state each and a fast local disk; an "
    "object store with {3:.0f} ms a request and {0.bandwidth:,.0f} bytes a second for each "
    "executor. {1.partitions:,} partitions; {1.rows:,} rows of {1.row} bytes in files, which take "
    "{1.beside} bytes more in memory than those that were measured."
)
FORMULAS: Final = """
## Formulas

- **Batch**: what the provider adds to a batch of the same query without a store. Changed rows times
  core microseconds (in memory, and beyond it for the share that does not fit), and rows of the
  state times what copying one takes, over the cores of all executors; and the requests that a task
  makes one after the other, times their latency, for each round of tasks. Beyond memory no query
  without a store was measured, so Spark's own part of those rows is in the sum.
- **Bytes written by Keyfold**: each commit's delta; merged deltas and snapshots by the plan of
  [merges](design/files.md#merged-deltas), simulated with rows that change at random
  ([merges.py](../bench/model/merges.py)). By HDFSBacked: deltas, and all rows in every tenth batch.
  RocksDB's compactions are not modelled: what was measured grows neither with the rows of a batch
  nor with its share of the state.
- **Restart**: requests of a load for each round of tasks, the files that are read over the
  bandwidth of the executors, and rows times the time of a load over the cores. What does not fit
  into memory is written to the local disk meanwhile, which is not in the sum.
- **Rescale**: rows of the state times what Spark's repartition takes a row. Keyfold's moves no
  rows: what the benchmark's grows by from 1 to 5 million rows is taken for its time a row.
- **Money**: list prices of S3 Standard, $0.005 for 1,000 requests (each taken for a PUT), $0.023
  for a GiB and month. No transfer, no machines. For each merged delta or snapshot of Keyfold's
  three requests more; maintenance of Spark's providers is left out.

Not in them: Spark's own part of a batch in memory, shuffles, skew, stragglers, throttling by the
object store, garbage collection, network between executors. Rows that come unevenly are cheaper,
since those that come often are in memory.
"""


def page() -> str:
    """Write the text of the page."""
    found = list(costs())
    return "\n".join(
        [
            HEAD.strip(),
            *constants(found),
            FORMULAS.rstrip(),
            "",
            *compared(list(checks(found))),
            *sizes(),
            *planned(found),
            "",
        ]
    )


def constants(found: list[Costs]) -> Iterator[str]:
    """A row for each constant."""

    def row(what: str, values: list[float | None]) -> str:
        return f"| {what} | " + " | ".join(text(it) for it in values) + " |"

    yield row("core µs of a changed row, in memory", [it.warm * MICRO for it in found])
    yield row(
        "core µs of each row of the state, in each batch", [it.copied * MICRO for it in found]
    )
    yield row(
        "core µs of a changed row, beyond memory, with Spark's own part",
        [None if it.cold is None else it.cold * MICRO for it in found],
    )
    yield row("core µs of a row, load to the first answer", [it.load * MICRO for it in found])
    yield row(
        "core µs of a row, rescale",
        [None if it.rescale is None else it.rescale * MICRO for it in found],
    )
    yield row("requests of a partition and batch", [it.requests for it in found])
    yield row("requests of a partition's load", [it.load_requests for it in found])
    yield row("bytes of a row in memory", [it.memory for it in found])


def compared(found: list[Check]) -> Iterator[str]:
    """A row for each check."""
    near = sum(1 / NEAR <= it.predicted / it.measured <= NEAR for it in found)
    yield from ("## Predicted and measured", "")
    yield f"{near} of {len(found)} are within a factor of {NEAR}."
    yield from ("", "| what | provider | predicted | measured | ratio |")
    yield "| --- | --- | ---: | ---: | ---: |"
    for it in found:
        unit = f" {it.unit}" if it.unit else ""
        yield (
            f"| {it.what} | {it.provider} | {text(it.predicted)}{unit} | {text(it.measured)}{unit} "
            f"| {it.predicted / it.measured:.2f} |"
        )
    yield ""


def sizes() -> Iterator[str]:
    """How what is written grows with the size of the state beside a batch."""
    yield from ("## What Keyfold writes as the state grows", "")
    yield f"Bytes of a partition, in batches that change 10,000 rows of {ROW} bytes at random:"
    yield from (
        "",
        "| rows | a batch, KiB | of what commits write | a snapshot only, as HDFSBacked |",
    )
    yield "| ---: | ---: | ---: | ---: |"
    for rows in (1_000_000, 10_000_000, 100_000_000, 1_000_000_000):
        it = written(Workload(rows, 10_000, ROW, DELTA_ROW, FILE), cycles=1)
        whole = of_hdfs(Query(rows, 10_000, 1, 1, ROW, 0), DELTA_ROW).bytes
        yield (
            f"| {rows:,} | {it.bytes / 1024:,.0f} | {it.amplification:.1f}x "
            f"| {whole / 1024:,.0f} KiB, {whole / it.commits:,.0f}x |"
        )
    yield ""


def planned(found: list[Costs]) -> Iterator[str]:
    """The cluster, a table for each query."""
    yield from ("## 10 TB of state on 100 executors", "")
    yield CLUSTER_TEXT.format(CLUSTER, QUERIES[0], CLUSTER.budget >> 30, CLUSTER.latency * 1000)
    for query in QUERIES:
        yield from (
            "",
            f"### {query.changed:,} rows change in a batch of {query.seconds:.0f} s",
            "",
        )
        yield "| | HDFSBacked | RocksDB, changelog | Keyfold |"
        yield "| --- | ---: | ---: | ---: |"
        for what, cells in lines(query, found):
            yield f"| {what} | {' | '.join(cells)} |"


def lines(query: Query, found: list[Costs]) -> Iterator[tuple[str, list[str]]]:
    """What each provider takes."""
    ours = of_keyfold(query, FILE, query.row * DELTA_ROW / ROW)
    theirs = of_hdfs(query, query.row * DELTA_ROW / ROW)
    bytes_of = {"Keyfold": ours.bytes, "HDFSBacked": theirs.bytes}
    # A PUT and a listing for each merged delta or snapshot, and some ten opens.
    upkeep = {"Keyfold": ours.tiers * 3}
    live = query.rows * query.row
    # A load of ours reads, half way between two snapshots, merged deltas of a quarter.
    files = {it.name: live * (1.25 if it.name == "Keyfold" else 1) for it in found}
    fits = {it.name: batch_s(query, CLUSTER, it) for it in found}
    yield (
        "memory that all of the state would take",
        [f"{query.rows * (it.memory + query.beside) / 1e12:,.0f} TB" for it in found],
    )
    yield "a batch, in all", [seconds(fits[it.name]) for it in found]
    yield (
        "of it, requests to the object store",
        [
            seconds(fits[it.name] and requests_s(query.partitions, CLUSTER, it.requests))
            for it in found
        ],
    )
    yield (
        "written to the object store, MB/s",
        [
            text(bytes_of[it.name] / query.seconds / 1e6) if it.name in bytes_of else "not modelled"
            for it in found
        ],
    )
    yield "checkpoint at its most, TB", ["", "", f"{ours.checkpoint / 1e12:,.0f}"]
    yield (
        "dollars a day: requests",
        [
            text(dollars(query, query.partitions * (it.requests + upkeep.get(it.name, 0)), 0))
            for it in found
        ],
    )
    yield "dollars a day: 10 TB of live state", [text(dollars(query, 0, live)) for _ in found]
    yield (
        "a restart, to the first rows of all partitions",
        [seconds(fits[it.name] and restart_s(query, CLUSTER, it, files[it.name])) for it in found],
    )
    yield "a rescale", [seconds(rescale_s(query, CLUSTER, it), "none") for it in found]


def seconds(value: float | None, missing: str = "does not fit") -> str:
    """For a cell."""
    return missing if value is None else f"{text(value)} s"


def text(value: float | None) -> str:
    """A number of three digits or so."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= ROUND else f"{value:.3g}"
