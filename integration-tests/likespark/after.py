"""What a query does with the rows of its stateful operator, in the same plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as f


def _same(text: str) -> str:
    return text


def _same_frames(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    yield from frames


def _by_udf(rows: DataFrame) -> DataFrame:
    # In another thread than the task's.
    return rows.withColumn("said", f.udf(_same)(f.struct("*").cast("string")))


def _by_frames(rows: DataFrame) -> DataFrame:
    texts = rows.select(f.struct("*").cast("string").alias("said"))
    return texts.mapInPandas(_same_frames, "said string")


AFTER: dict[str, Callable[[DataFrame], DataFrame]] = {
    "nothing": lambda rows: rows,
    "coalesce(1)": lambda rows: rows.coalesce(1),
    "coalesce(2)": lambda rows: rows.coalesce(2),
    "repartition(3)": lambda rows: rows.repartition(3),
    "a udf": _by_udf,
    "mapInPandas": _by_frames,
    "a filter": lambda rows: rows.where("rand() < 2"),
    "a static join": lambda rows: rows.crossJoin(
        f.broadcast(rows.sparkSession.range(2).toDF("side"))
    ),
    "a static join, shuffled": lambda rows: rows.withColumn("one", f.expr("1L")).join(
        rows.sparkSession.range(1, 3).toDF("one"), "one"
    ),
}
# Only in complete mode.
ORDERED: dict[str, Callable[[DataFrame], DataFrame]] = {
    "orderBy": lambda rows: rows.orderBy(f.struct("*").cast("string")),
    "orderBy, limit": lambda rows: rows.orderBy(f.struct("*").cast("string")).limit(3),
}
