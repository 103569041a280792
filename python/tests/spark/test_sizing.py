"""The formulas of docs/cluster.md, "Sizing", against queries that were run."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from kit.places import ROOT
from kit.session import NEEDS_JAR

pytestmark = [*NEEDS_JAR, pytest.mark.timeout(600)]

PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
PARTITIONS = 4
# How far a formula may be from what was measured.
TOLERANCE = 1.3
POLL_S = 0.05
SETTINGS = {
    "shuffle.partitions": PARTITIONS,
    # What remains of a row after compression depends on the rows.
    "streaming.stateStore.keyfold.compression.codec": "none",
    "streaming.stateStore.minDeltasForSnapshot": 5,
    "streaming.minBatchesToRetain": 10,
}


def constant(name: str) -> float:
    """A number of the page, the only place that has it."""
    [found] = re.findall(rf"^\| {re.escape(name)} \| ([\d.]+) \|", PAGE, re.MULTILINE)
    return float(found)


def memory(rows: int, changed: int, row_bytes: int) -> float:
    each = row_bytes + constant("bytes beside a row in memory")
    return (rows + changed) * each * constant("reserve of memory")


def checkpoint(rows: int, changed: int, row_bytes: int, between: int, retained: int) -> float:
    kept = constant("reserve of batches") * retained + between
    merges = changed * between < rows / 2
    apart = rows / 2 / changed + between if merges else between
    found = rows * (ceil(kept / apart) + 1) + changed * kept
    more = rows / 2 + changed * kept if merges else 0
    return (found + more) * (row_bytes + constant("bytes beside a row in files"))


class Measured:
    """A query that gets so many rows in each batch, and is stopped after so many batches."""

    mode = "update"

    def __init__(
        self, spark: SparkSession, folder: Path, query: Callable[[DataFrame], DataFrame],
        rows: int, batches: int = 1,
    ) -> None:  # fmt: skip
        session = spark.newSession()
        for key, value in SETTINGS.items():
            session.conf.set(f"spark.sql.{key}", value)
        options: dict[str, Any] = {"rowsPerBatch": rows, "numPartitions": 2}
        stream = session.readStream.load(format="rate-micro-batch", **options)
        writer = query(stream).writeStream.format("noop").outputMode(self.mode)
        writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
        state = folder / "checkpoint" / "state"
        started = writer.trigger(processingTime="0 seconds").start()
        # The most that there was since all rows are there.
        self.files = 0
        try:
            while (progress := started.lastProgress) is None or progress["batchId"] < batches - 1:
                assert started.isActive, started.exception()
                if progress is not None and progress["batchId"] >= batches // 2:
                    self.files = max(self.files, size(state))
                time.sleep(POLL_S)
        finally:
            started.stop()
        [operator] = progress["stateOperators"]
        self.rows = operator["numRowsTotal"]
        self.memory = operator["memoryUsedBytes"]


class MeasuredJoin(Measured):
    """A join of streams, to which Spark allows one mode."""

    mode = "append"


def size(folder: Path) -> int:
    sizes = 0
    for file in folder.rglob("*"):
        try:
            sizes += file.stat().st_size if file.is_file() else 0
        except FileNotFoundError:
            # Deleted meanwhile.
            continue
    return sizes


def count(keys: str) -> Callable[[DataFrame], DataFrame]:
    return lambda stream: stream.groupBy(sf.expr(keys)).count()


TEXT = "lpad(cast(value AS string), 200, '-')"


@pytest.mark.parametrize(
    ("query", "rows", "row_bytes"),
    [
        # A key and a value of a column each: 8 bytes for nulls, 8 for the column.
        (count("value"), 200_000, 16 + 16),
        (count("value"), 1_000_000, 16 + 16),
        # A text of 200 bytes, behind its place and its length.
        (count(TEXT), 200_000, 16 + 200 + 16),
        # `first` keeps whether it has a value: two columns.
        (
            lambda stream: stream.groupBy("value").agg(sf.first(sf.expr(TEXT))),
            200_000,
            16 + 24 + 200,
        ),
    ],
    ids=["200k", "1M", "text in keys", "text in values"],
)
def test_memory_of_new_rows(
    spark: SparkSession, tmp_path: Path, query: Callable[[DataFrame], DataFrame], rows: int,
    row_bytes: int,
) -> None:  # fmt: skip
    measured = Measured(spark, tmp_path, query, rows)
    assert measured.rows >= rows
    expected = memory(measured.rows, 0, row_bytes)
    assert 1 <= expected / measured.memory <= TOLERANCE


def test_memory_of_the_rows_of_a_join(spark: SparkSession, tmp_path: Path) -> None:
    def join(stream: DataFrame) -> DataFrame:
        sides = (stream.selectExpr(f"value AS {name}") for name in "ab")
        return next(sides).join(next(sides), sf.expr("a = b"))

    rows = 200_000
    measured = MeasuredJoin(spark, tmp_path, join, rows)
    assert measured.rows >= 2 * rows
    # The key and the index, the value and `matched`; and, as all keys are different, a count for
    # each row, which is not in Spark's number of rows.
    expected = memory(measured.rows, 0, 24 + 24) + memory(measured.rows, 0, 16 + 16)
    assert 1 <= expected / measured.memory <= TOLERANCE


def test_memory_and_checkpoint_of_rows_that_change(spark: SparkSession, tmp_path: Path) -> None:
    rows, changed = 100_000, 10_000
    measured = Measured(spark, tmp_path, count(f"value % {rows}"), changed, batches=50)
    assert measured.rows == rows
    assert 1 <= memory(rows, changed, 32) / measured.memory <= TOLERANCE
    files = checkpoint(rows, changed, 32, between=5, retained=10)
    assert 1 / TOLERANCE <= files / measured.files <= TOLERANCE


def test_the_formulas_of_the_page_have_its_numbers() -> None:
    beside, reserve = constant("bytes beside a row in memory"), constant("reserve of memory")
    assert f"`M = {reserve:g} x (N + c) x (r + {beside:g})`" in PAGE
    assert f"`{constant('reserve of batches'):g} R + B`" in PAGE
    beside = constant("bytes beside a row in files")
    assert f"`(N x (V / S + 1) + c x V) x (r + {beside:g}) x z`" in PAGE
