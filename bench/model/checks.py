"""The model's predictions beside what was measured at sizes that its constants are not from."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bench.model.measured import (
    BATCH,
    BIG_BATCH,
    CORES,
    LIMITS,
    S3_200,
    Costs,
    cell,
    requests,
    store_ms,
)
from bench.model.merges import Workload, written
from bench.model.plan import Cluster, Query, batch_s, of_hdfs, rescale_s

MACHINE: Final = Cluster(1, CORES, 8 << 30, 0, 1e9)
ROW, DELTA_ROW, FILE = 15.3, 20.2, 600.0
"""Bytes of the rows that the benchmarks have, and of a file beside its rows."""
ROWS: Final = 1_000_000
RATIOS: Final = (100, 1000, 10_000)
MOST_OF_HDFS: Final = 1000
"""The next one was not measured: each of its thousands of batches copies the whole map."""


@dataclass(frozen=True)
class Check:
    """One figure."""

    what: str
    provider: str
    unit: str
    predicted: float
    measured: float


def checks(found: list[Costs]) -> Iterator[Check]:
    """All of them."""
    yield from batches(found)
    yield from cold_batches(found)
    yield from many_partitions(found)
    yield from rescales(found)
    yield from bytes_written()


def count(rows: int, changed: int, partitions: int = 4) -> Query:
    """The count of the benchmarks."""
    return Query(rows, changed, partitions, 1, ROW, 0)


def batches(costs: list[Costs]) -> Iterator[Check]:
    """Of the streaming count in memory, but that whose figures the constants are from."""
    for it in costs:
        for keys, text in ((500_000, "500k int"), (5_000_000, "5M int")):
            if it.name == "HDFSBacked" and keys > ROWS:
                continue
            found = batch_s(count(keys, BATCH), MACHINE, it)
            what = f"store's part of a batch of 200,000, {keys:,} keys"
            yield Check(what, it.name, "ms", (found or 0) * 1000, store_ms(it.name, text))


def cold_batches(costs: list[Costs]) -> Iterator[Check]:
    """Of the count on YARN beyond its memory; the constants are from that in a cgroup."""
    for it in costs:
        if it.cold is not None:
            first = "Keyfold, its default budget (192 MB)" if it.name == "Keyfold" else it.name
            measured = cell(LIMITS, first, "ms a batch")
            yield Check(
                "batch of 500,000, 14,000,000 keys on YARN",
                it.name,
                "ms",
                it.cold * BIG_BATCH / CORES * 1000,
                measured,
            )


def many_partitions(costs: list[Costs]) -> Iterator[Check]:
    """Requests with 200 partitions; the constants are from 4."""
    for it in costs:
        touched = 10 if it.name == "Keyfold" else 200
        yield Check(
            "requests to S3 a batch, 200 partitions, 10 of them changed",
            it.name,
            "",
            it.requests * touched,
            requests(it.name, S3_200),
        )


def rescales(costs: list[Costs]) -> Iterator[Check]:
    """Spark's repartition of 100,000 rows; the constants are from 1 and 5 million."""
    for it in costs:
        if it.name == "RocksDB":
            row, column = "rescale, 16 to 32 partitions, {} int", "RocksDB counting"
            at_1m = cell("benchmarks.md", row.format("1M"), column)
            per_row = rescale_s(count(1, 1), MACHINE, it) or 0
            measured = cell("benchmarks.md", row.format("100k"), column)
            yield Check("rescale of 100,000 rows", it.name, "ms", at_1m - per_row * 9e8, measured)


def bytes_written() -> Iterator[Check]:
    """Of `make bench CELL=upkeep`: all from sizes of rows alone."""
    for ratio in RATIOS:
        changed, text = ROWS // ratio, f"1 of {ratio:,} rows changes"
        row = f"{{}}: {text}"
        found = written(Workload(ROWS, changed, ROW, DELTA_ROW, FILE))
        for figure, unit, predicted in (
            ("bytes written a batch", "KiB", found.bytes / 1024),
            ("checkpoint", "MiB", found.checkpoint / (1 << 20)),
        ):
            measured = cell(LIMITS, row.format(figure), "Keyfold")
            yield Check(f"{figure}, {text}", "Keyfold", unit, predicted, measured)
        if ratio <= MOST_OF_HDFS:
            of_spark = of_hdfs(count(ROWS, changed, 1), DELTA_ROW)
            measured = cell(LIMITS, row.format("bytes written a batch"), "HDFSBacked")
            yield Check(
                f"bytes written a batch, {text}",
                "HDFSBacked",
                "KiB",
                of_spark.bytes / 1024,
                measured,
            )
