# ruff: noqa: ARG002, N802, N803 - Spark names the methods and what they are given
"""transformWithState whose stored keys are not those that its input is partitioned by."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.streaming.stateful_processor import TimerValues

import keyfold
from keyfold.errors import JvmError
from kit.lines import HAS_ROWS_PROCESSOR
from kit.session import NEEDS_JAR

pytestmark = NEEDS_JAR
register_pickle_by_value(sys.modules[__name__])

ROWS = 60
HOUR_MS = 3_600_000
# Expression of a key, and how many keys there are.
NULLABLE = {
    "string": ("if(id % 20 = 0, null, string(id))", 58),
    "double": ("if(id % 20 = 0, null, id + 0.1D)", 58),
}


class Count(StatefulProcessor):
    """For each key: how many rows it had, in a value or in a list of the rows' numbers."""

    def __init__(
        self, *, pandas: bool = False, listed: bool = False, ttl_ms: int | None = None
    ) -> None:
        self.pandas, self.listed, self.ttl_ms = pandas, listed, ttl_ms

    def init(self, handle: StatefulProcessorHandle) -> None:
        make = handle.getListState if self.listed else handle.getValueState
        self.state = make("n", "n long", self.ttl_ms)

    def handleInputRows(
        self, key: Any, rows: Iterator[Any], timerValues: TimerValues
    ) -> Iterator[Any]:
        count = sum(len(it) if self.pandas else 1 for it in rows)
        if self.listed:
            self.state.appendList([(it,) for it in range(count)])
            count = sum(1 for _ in self.state.get())
        else:
            count += self.state.get()[0] if self.state.exists() else 0
            self.state.update((count,))
        yield pd.DataFrame({"count": [count]}) if self.pandas else Row(count=count)

    def close(self) -> None:
        pass


class Query:
    """Counts `ROWS` rows a batch by keys that are made of their ids."""

    def __init__(self, spark: SparkSession, root: Path, keys: list[str], processor: Count) -> None:
        self.spark, self.root, self.keys, self.processor = spark, root, keys, processor
        self.checkpoint = root / "checkpoint"

    def batch(self) -> Counter[int]:
        """Runs a batch; how many keys have each count."""
        folder = str(self.root / "in")
        self.spark.range(ROWS).coalesce(1).write.mode("append").parquet(folder)
        stream = self.spark.readStream.schema("id long").parquet(folder)
        named = [it.rpartition(" ")[2] for it in self.keys]
        grouped = stream.selectExpr("id", *self.keys).groupBy(*named)
        of = (
            grouped.transformWithStateInPandas
            if self.processor.pandas
            else grouped.transformWithState
        )
        mode = "ProcessingTime" if self.processor.ttl_ms else "None"
        found: list[int] = []

        def take(rows: DataFrame, _: int) -> None:
            found.extend(it["count"] for it in rows.collect())

        counted = of(self.processor, "count long", "Update", mode)
        query = (
            counted.writeStream.outputMode("update")
            .option("checkpointLocation", str(self.checkpoint))
            .trigger(once=True)
            .foreachBatch(take)
            .start()
        )
        query.awaitTermination()
        return Counter(found)


@pytest.fixture(autouse=True)
def partitions(spark: SparkSession) -> Iterator[None]:
    spark.conf.set("spark.sql.shuffle.partitions", "4")
    yield
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    spark.conf.set("spark.sql.session.timeZone", "UTC")


def goes_on(query: Query, keys: int) -> None:
    """It runs, also after a restart; every row is found, and a rescale is refused."""
    for number in (1, 2):
        query.batch()
        checkpoint = keyfold.open_checkpoint(query.checkpoint)
        table = checkpoint.operators[0].tables["n"]
        rows = table.scan().to_arrow().to_pylist()
        assert len(rows) == keys
        assert sum(row["value"]["n"] for row in rows) == number * ROWS
        # Not compared by its key: NaN is no other NaN.
        for row in rows:
            (found,) = table.get(row["key"]).to_pylist()
            assert (found["value"], found["partition_id"]) == (row["value"], row["partition_id"])
    assert checkpoint.fsck(deep=True).findings == ()
    with pytest.raises(JvmError, match="KEYFOLD_RESCALE_PLACEMENT"):
        keyfold.rescale(query.checkpoint, 8, dry_run=False)


@pytest.mark.parametrize("kind", NULLABLE)
def test_nulls_that_pandas_makes_something_else(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    expression, keys = NULLABLE[kind]
    goes_on(Query(spark, tmp_path, [f"{expression} k"], Count(pandas=True)), keys)


def test_timestamps_of_another_zone_than_the_workers(spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    key = "timestamp_seconds(1704110400 + id * 3600) k"
    goes_on(Query(spark, tmp_path, [key], Count(pandas=True)), ROWS)


@pytest.mark.skipif(not HAS_ROWS_PROCESSOR, reason="pandas has no columns of structs as keys")
@pytest.mark.parametrize("listed", [False, True])
def test_a_grouping_key_that_looks_like_a_maps(
    spark: SparkSession, tmp_path: Path, *, listed: bool
) -> None:
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    keys = ["struct(id % 6 a) key", "struct(id % 4 b) userKey"]
    query = Query(spark, tmp_path, keys, Count(listed=listed, ttl_ms=HOUR_MS))
    assert query.batch() == Counter({5: 12})
    keyfold.rescale(query.checkpoint, 4, dry_run=False)
    assert query.batch() == Counter({10: 12})
    keyfold.rescale(query.checkpoint, 3, dry_run=False)
    assert query.batch() == Counter({15: 12})
    assert keyfold.open_checkpoint(query.checkpoint).fsck(deep=True).findings == ()
