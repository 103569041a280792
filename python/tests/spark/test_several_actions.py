"""Batches whose state is computed several times, one time after the other or at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from kit.session import NEEDS_JAR

pytestmark = NEEDS_JAR

BATCHES = [[1, 2, 3, 4, 5], [1, 2], [2, 6, 7]]


def zipped(batch: DataFrame) -> list[Row]:
    pairs = batch.rdd.zip(batch.rdd).collect()
    assert all(one == other for one, other in pairs)
    return [one for one, _ in pairs]


def joined(batch: DataFrame) -> list[Row]:
    found: list[Row] = batch.join(batch.select("k"), "k").collect()
    return found


def crossed(batch: DataFrame) -> list[Row]:
    found: list[Row] = (
        batch.crossJoin(batch.selectExpr("k k2")).where("k = k2").drop("k2").collect()
    )
    return found


def in_a_pool(batch: DataFrame) -> list[Row]:
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda _: sorted(batch.collect()), range(2))
    assert one == other
    return one


@pytest.mark.parametrize("take", [zipped, joined, crossed, in_a_pool], ids=lambda it: it.__name__)
def test_each_time_gives_the_rows_of_the_batch(
    spark: SparkSession, tmp_path: Path, take: Callable[[DataFrame], list[Row]]
) -> None:
    (tmp_path / "in").mkdir()
    source, found = str(tmp_path / "in"), []
    query = (
        spark.readStream.schema("k int")
        .parquet(source)
        .groupBy("k")
        .count()
        .writeStream.outputMode("update")
        .option("checkpointLocation", str(tmp_path / "cp"))
        .foreachBatch(lambda batch, _: found.append(sorted(map(tuple, take(batch)))))
    )
    counts: dict[int, int] = {}
    for values in BATCHES:
        frame = spark.createDataFrame([(value,) for value in values], "k int")
        frame.coalesce(1).write.mode("append").parquet(source)
        assert query.trigger(availableNow=True).start().awaitTermination(120)
        counts |= {value: counts.get(value, 0) + 1 for value in values}
        assert found[-1] == [(value, counts[value]) for value in values]
