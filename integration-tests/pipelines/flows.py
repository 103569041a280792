# ruff: noqa: ANN401, ARG002, N802, N803 - Spark names the methods and what they are given
"""Each stateful operator that a pipeline can have, as a flow of its own."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark import pipelines as dp
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.streaming.state import GroupState

spark = SparkSession.active()
half = int(spark.conf.get("half"))


def rows(delay: str = "1 minute") -> DataFrame:
    stream = spark.readStream.schema("id long, key long, value long, at timestamp")
    return stream.json(spark.conf.get("input")).withWatermark("at", delay)


@dp.table
def dedup() -> DataFrame:
    return rows().dropDuplicates(["id"])


@dp.table
def dedup_within() -> DataFrame:
    return rows("1 hour").dropDuplicatesWithinWatermark(["id"])


@dp.table
def windows() -> DataFrame:
    found = rows().groupBy(f.window("at", "15 minutes"), "key").agg(f.sum("value").alias("total"))
    return found.select("key", f.unix_timestamp("window.start").alias("start"), "total")


@dp.table
def sessions() -> DataFrame:
    found = rows().groupBy(f.session_window("at", "5 minutes"), "key").count()
    return found.select("key", f.unix_timestamp("session_window.start").alias("start"), "count")


@dp.table
def join() -> DataFrame:
    """The rows of the first run, each with the row of the second that belongs to it."""
    firsts = rows().where(f.col("value") < half).select("value", "at")
    seconds = rows().select((f.col("value") - half).alias("other"), f.col("at").alias("later"))
    fits = f.expr("value = other and later between at and at + interval 1 hour")
    return firsts.join(seconds, fits).select("value", "other")


class Totals(StatefulProcessor):
    """Emits the sum of a key's values in this batch and all before."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.total = handle.getValueState("total", "total long")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        before = self.total.get()[0] if self.total.exists() else 0
        total = before + sum(row.value for row in rows)
        self.total.update((total,))
        yield Row(key=key[0], total=total)


def count(key: Any, parts: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    before = state.get[0] if state.exists else 0
    state.update((before + sum(map(len, parts)),))
    yield pd.DataFrame({"key": [key[0]], "count": [state.get[0]]})


# Both ask the server for the names of the columns, which Spark forbids in the function of a flow.
by_key = rows().groupBy("key")
transformed = by_key.transformWithState(Totals(), "key long, total long", "append", "none")
counted = by_key.applyInPandasWithState(
    count, "key long, count long", "count long", "append", "NoTimeout"
)


@dp.table
def totals() -> DataFrame:
    return transformed


@dp.table
def groups() -> DataFrame:
    return counted


dp.create_sink("first", "parquet", {"path": spark.conf.get("sink")})


@dp.append_flow(target="first")
def limit() -> DataFrame:
    return rows().select("value").limit(half + 1)
