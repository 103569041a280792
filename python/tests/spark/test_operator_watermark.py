"""A watermark before an operator is one for what comes after it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

import keyfold
from keyfold.errors import InvalidArgumentError
from kit.session import NEEDS_JAR
from python.tests.spark.subtasks import Query

pytestmark = NEEDS_JAR
register_pickle_by_value(sys.modules[__name__])


class Numbers(keyfold.OperatorFunction):
    """Yields what comes, with a number of its own for each row."""

    def open(self, ctx: keyfold.OperatorContext) -> None:
        self.next = ctx.list_state("next", "n bigint")

    def process(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        first = sum(it for (it,) in self.next.get())
        for batch in batches:
            numbers = list(range(first, first + batch.num_rows))
            first += batch.num_rows
            yield pa.table({"at": batch.column("t"), "n": numbers})
        self.next.update([(first,)])


def numbered(df: DataFrame, event_time: str | None, name: str = "op") -> DataFrame:
    return keyfold.with_operator_state(
        df, Numbers(), "at timestamp, n bigint", parallelism=2, event_time=event_time, name=name
    )


def counted(df: DataFrame, column: str) -> DataFrame:
    counts = df.groupBy(f.window(column, "10 minutes")).count()
    return counts.select(f.date_format("window.start", "HH:mm"), "count")


def test_a_window_in_append_mode_is_as_without_the_operator(
    spark: SparkSession, tmp_path: Path
) -> None:
    found = []
    for with_operator in (False, True):
        root = tmp_path / str(with_operator)
        root.mkdir()
        query = Query(spark, root, Numbers())
        events = query.source("in", "t timestamp").withWatermark("t", "10 minutes")
        df = counted(
            numbered(events, "at") if with_operator else events, "at" if with_operator else "t"
        )
        outputs = []
        # Closes a window, comes late for it, closes two more.
        for times in (["00:01", "00:02", "00:11"], ["00:25"], ["00:03", "00:41"]):
            query.add("in", [{"t": f"2026-07-01T{it}:00Z"} for it in times])
            outputs.append([count for _, count in query.run(df)])
        found.append(outputs)
    assert found == [[[], [2], [1, 1]]] * 2


def test_without_event_time_spark_refuses_the_window(spark: SparkSession, tmp_path: Path) -> None:
    query = Query(spark, tmp_path, Numbers())
    events = query.source("in", "t timestamp").withWatermark("t", "10 minutes")
    with pytest.raises(AnalysisException, match="watermark"):
        query.run(counted(numbered(events, None), "at"))


def test_event_time_goes_through_two_operators(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load()
    events = stream.select(f.col("timestamp").alias("t")).withWatermark("t", "10 minutes")
    first = numbered(events, "at").select(f.col("at").alias("t"))
    second = numbered(first, "at", name="second")
    assert second.schema["at"].metadata == events.schema["t"].metadata != {}
    assert second.schema["n"].metadata == {}


def test_an_event_time_without_a_watermark_is_refused(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load()
    events = stream.select(f.col("timestamp").alias("t"))
    with pytest.raises(InvalidArgumentError, match="no column with a watermark"):
        numbered(events, "at")
    for column in ("n", "t"):
        with pytest.raises(InvalidArgumentError, match=r"one of \['at'\]"):
            numbered(events.withWatermark("t", "1 minute"), column)
