"""What is done with the rows of a batch, and how an answer is made of it."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

# Rows as text, in an order of their own.
Bag = list[str]


def canonical(rows: DataFrame) -> DataFrame:
    """Each row as a text, whatever the types and names of its columns."""
    plain = rows.toDF(*(f"c{it}" for it in range(len(rows.columns))))
    return plain.select(f.struct("*").cast("string").alias("row"))


def bag(rows: DataFrame) -> Bag:
    return sorted(it.row for it in canonical(rows).collect())


def _twice(rows: DataFrame) -> Bag:
    return [str(rows.count()), *bag(rows)]


def _rows_before_count(rows: DataFrame) -> Bag:
    found = bag(rows)
    return [str(rows.count()), *found]


def _persisted(rows: DataFrame) -> Bag:
    rows.persist()
    try:
        return _twice(rows)
    finally:
        rows.unpersist()


def _by_rdd(rows: DataFrame) -> Bag:
    return sorted(canonical(rows).rdd.map(lambda it: it[0]).collect())


def _to_pandas(rows: DataFrame) -> Bag:
    return sorted(canonical(rows).toPandas()["row"])


def _joined_with_itself(rows: DataFrame) -> Bag:
    texts = canonical(rows)
    return bag(texts.join(texts.select(f.col("row").alias("other")), f.expr("row = other")))


def _union_with_itself(rows: DataFrame) -> Bag:
    return bag(canonical(rows).unionAll(canonical(rows)))


def _sorted(rows: DataFrame) -> Bag:
    return [it.row for it in canonical(rows).orderBy("row").collect()]


def _nothing(_: DataFrame) -> Bag:
    return []


def _some(rows: DataFrame) -> Bag:
    return [str(len(canonical(rows).take(1)))]


def _counted(rows: DataFrame) -> Bag:
    return [str(rows.count())]


def _in_partitions(rows: DataFrame) -> Bag:
    seen = canonical(rows).rdd.mapPartitions(lambda its: [sum(1 for _ in its)])
    return [str(sum(seen.collect()))]


# Functions for `foreachBatch`.
SHAPES: dict[str, Callable[[DataFrame], Bag]] = {
    "one action": bag,
    "count, then rows": _twice,
    "rows, then count": _rows_before_count,
    "persist": _persisted,
    "rdd": _by_rdd,
    "toPandas": _to_pandas,
    "self-join of the batch": _joined_with_itself,
    "self-union of the batch": _union_with_itself,
    "orderBy in the batch": _sorted,
    "no action": _nothing,
    "take(1)": _some,
    "count": _counted,
    "mapPartitions": _in_partitions,
}
