"""Each streaming answer beside the same question in batch, for a provider."""

import os
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, Row, SparkSession

from bench.nexmark.answers import Tables
from bench.nexmark.answers_running import ANSWERS
from bench.nexmark.generator import CYCLE, Generator
from bench.nexmark.query import Query, side_input
from bench.nexmark.stores import STORES

EVENTS: Final = 9_000
ROWS: Final = 3_000
# Some 50 s of event time: five windows and 25 that slide.
GENERATOR: Final = Generator(seed=7, rate=180)
# Events that come an hour later: windows end by them, and theirs stay open.
LATER: Final = 3600 * GENERATOR.rate // CYCLE * CYCLE
STOP_AFTER: Final = 2
TIME_FORMAT: Final = "yyyy-MM-dd HH:mm:ss.SSSSSS"

Rows = Counter[tuple[Any, ...]]


def differences(spark: SparkSession, queries: list[Query], stores: list[str]) -> Iterator[str]:
    """A line for each answer, that of a difference begins with "DIFFERS"."""
    tables = batch_tables(spark)
    for query in queries:
        expected = Counter(map(tuple, ANSWERS[query.name](tables).collect()))
        # A query without state is the same with each provider.
        for store in stores if query.has_state else stores[:1]:
            begun = time.monotonic()
            found = streamed(spark, query, store)
            took = f"{time.monotonic() - begun:.1f} s"
            what = f"{query.name}, {store}: {expected.total():,} rows, {took}"
            if not expected:
                yield f"DIFFERS {what}: the question has no answer in batch"
            elif found == expected:
                yield f"same {what}"
            else:
                missing, other = expected - found, found - expected
                yield (
                    f"DIFFERS {what}: {missing.total():,} are missing, such as"
                    f" {next(iter(missing), None)}, {other.total():,} are not to be there, such as"
                    f" {next(iter(other), None)}"
                )


def batch_tables(spark: SparkSession) -> Tables:
    """The same events as the stream's, but for those that come an hour later."""
    numbers = spark.range(EVENTS).withColumnRenamed("id", "n")
    bids, auctions, persons = (
        of(numbers).localCheckpoint()
        for of in (GENERATOR.bids, GENERATOR.auctions, GENERATOR.persons)
    )
    return Tables(bids, auctions, persons, side_input(spark))


def streamed(shared: SparkSession, query: Query, store: str) -> Rows:
    """The answer in a stream that is stopped half-way and goes on."""
    spark = shared.newSession()
    for key, value in STORES[store].items():
        spark.conf.set(key, value)
    batches: dict[int, list[Row]] = {}

    def keep(rows: DataFrame, batch: int) -> None:
        batches[batch] = rows.collect()

    with tempfile.TemporaryDirectory(prefix="keyfold-nexmark-") as scratch:
        folder, found = Path(scratch), Path(scratch) / "files"
        (folder / "numbers").mkdir()
        source = spark.readStream.schema("n BIGINT").option("maxFilesPerTrigger", 1)
        answer = query.over(source.parquet(str(folder / "numbers")), GENERATOR)
        if query.name == "q10":
            csv = answer.writeStream.format("csv").option("timestampFormat", TIME_FORMAT)
            writing = csv.partitionBy("dt", "hm").option("path", str(found))
        else:
            writing = answer.writeStream.foreachBatch(keep)
        writing = writing.outputMode(query.mode).trigger(availableNow=True)
        writing = writing.option("checkpointLocation", str(folder / "checkpoint"))
        batches_of = numbers(has_end=query.has_watermark)
        for part in (batches_of[:STOP_AFTER], batches_of[STOP_AFTER:]):
            write(part, folder / "numbers")
            writing.start().awaitTermination()
        if query.name == "q10":
            schema = answer.schema.simpleString().removeprefix("struct<").removesuffix(">")
            reading = spark.read.schema(schema.replace(":", " "))
            batches[0] = reading.option("timestampFormat", TIME_FORMAT).csv(str(found)).collect()
    if query.name == "q12":
        return bids_by_bidder(latest(batches, query.key))
    return latest(batches, query.key)


def numbers(*, has_end: bool) -> list[range]:
    """The numbers of each batch, and if it `has_end` those of a batch an hour later."""
    batches = [range(it, it + ROWS) for it in range(0, EVENTS, ROWS)]
    return [*batches, range(EVENTS + LATER, EVENTS + LATER + CYCLE)] if has_end else batches


def write(batches: list[range], folder: Path) -> None:
    """A file for each batch; a stream takes the oldest first."""
    for batch in batches:
        file = folder / f"{batch.start}.parquet"
        pq.write_table(pa.table({"n": pa.array(batch, pa.int64())}), file)
        os.utime(file, (batch.start, batch.start))


def latest(batches: dict[int, list[Row]], key: tuple[str, ...]) -> Rows:
    """All rows; with a key those of the last batch that has it."""
    if not key:
        return Counter(tuple(row) for rows in batches.values() for row in rows)
    found: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for _, rows in sorted(batches.items()):
        changed = defaultdict(list)
        for row in rows:
            changed[tuple(row[it] for it in key)].append(tuple(row))
        found.update(changed)
    return Counter(row for rows in found.values() for row in rows)


def bids_by_bidder(rows: Rows) -> Rows:
    """Without the windows."""
    counts: Counter[int] = Counter()
    for bidder, count, *_ in rows.elements():
        counts[bidder] += count
    return Counter(counts.items())
