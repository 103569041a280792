"""What `keyfold doctor` takes for granted of Spark, on queries that Spark has run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import keyfold
from kit.session import NEEDS_JAR

pytestmark = NEEDS_JAR

BATCHES = 25


def once(batch: DataFrame, _: int) -> None:
    batch.collect()


def twice(batch: DataFrame, _: int) -> None:
    batch.count()
    batch.collect()


def persisted(batch: DataFrame, _: int) -> None:
    batch.persist()
    twice(batch, 0)
    batch.unpersist()


def advice(
    spark: SparkSession,
    root: Path,
    take: Callable[[DataFrame, int], None],
    retained: int = 100,
    *,
    is_ordered: bool = False,
) -> list[str]:
    """The names of what is advised after a count of as many batches."""
    source = root / "in"
    source.mkdir()
    for number in range(BATCHES):
        rows = "".join(f'{{"k": {key}}}\n' for key in range(number, number + 20))
        (source / f"{number}.json").write_text(rows, encoding="utf-8")
    session = spark.newSession()
    session.conf.set("spark.sql.streaming.minBatchesToRetain", retained)
    reader = session.readStream.schema("k int").option("maxFilesPerTrigger", 1)
    stream = reader.json(str(source))
    counted = stream.groupBy("k").count()
    if is_ordered:
        writer = counted.orderBy("count").writeStream.outputMode("complete").foreachBatch(take)
    else:
        writer = counted.writeStream.outputMode("update").foreachBatch(take)
    writer = writer.option("checkpointLocation", str(root / "cp")).trigger(availableNow=True)
    assert writer.start().awaitTermination(200)
    report = keyfold.open_checkpoint(root / "cp").doctor()
    assert len(keyfold.open_checkpoint(root / "cp").operators) == 1
    return [it.name for it in report.advice]


@pytest.mark.parametrize("take", [once, persisted], ids=lambda it: it.__name__)
def test_a_query_is_healthy(
    spark: SparkSession, tmp_path: Path, take: Callable[[DataFrame, int], None]
) -> None:
    assert advice(spark, tmp_path, take) == []


def test_each_action_leaves_files_of_its_own(spark: SparkSession, tmp_path: Path) -> None:
    assert advice(spark, tmp_path, twice) == ["several-actions"]


def test_so_does_the_order_of_complete_mode(spark: SparkSession, tmp_path: Path) -> None:
    assert advice(spark, tmp_path, once, is_ordered=True) == ["several-actions"]


@pytest.mark.parametrize("retained", [1, 2])
def test_spark_deletes_from_both_logs_alike(
    spark: SparkSession, tmp_path: Path, retained: int
) -> None:
    assert advice(spark, tmp_path, once, retained) == ["retention-too-short"]


def test_a_clone_has_few_batches_and_is_healthy(spark: SparkSession, tmp_path: Path) -> None:
    advice(spark, tmp_path, once)
    keyfold.open_checkpoint(tmp_path / "cp").clone(tmp_path / "copy")
    copy = keyfold.open_checkpoint(tmp_path / "copy")
    assert copy.batches().num_rows == 2
    assert copy.doctor().ok
