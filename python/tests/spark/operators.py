"""A query of each operator of Spark's own, and rows for it."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from python.tests.spark.processor import counted

SCHEMA = "k int, s string, ts timestamp, v bigint"
START = datetime(2024, 5, 1, tzinfo=timezone.utc)


def rows(batch: int, count: int = 40) -> list[Any]:
    numbers = range(batch * count, (batch + 1) * count)
    return [
        (
            None if n % 11 == 0 else n % 7,
            f"näme{n % 5}" * (n % 4),
            START + timedelta(minutes=n),
            n,
        )
        for n in numbers
    ]


def joined(stream: DataFrame) -> DataFrame:
    left = stream.withWatermark("ts", "1 hour").alias("a")
    right = stream.withWatermark("ts", "1 hour").alias("b")
    near = "a.k = b.k and a.ts >= b.ts and a.ts <= b.ts + interval 10 minutes"
    return left.join(right, sf.expr(near), "leftOuter").select("a.k", "a.v", "b.s")


def marked(stream: DataFrame) -> DataFrame:
    return stream.withWatermark("ts", "1 hour")


OPERATORS: dict[str, tuple[Any, str, dict[str, str]]] = {
    "agg": (
        lambda s: s.groupBy("k", "s").agg(sf.count("*"), sf.sum("v"), sf.first("s"), sf.max("ts")),
        "update",
        {},
    ),
    "agg, format 1": (
        lambda s: s.groupBy("k", "s").agg(sf.count("*")),
        "update",
        {"stateStore__checkpointFormatVersion": "1"},
    ),
    "no keys": (lambda s: s.agg(sf.count("v")), "update", {}),
    "dedup": (lambda s: s.dropDuplicates(["k", "s"]), "append", {}),
    "dedup in watermark": (
        lambda s: marked(s).dropDuplicatesWithinWatermark(["k", "s"]), "append", {}
    ),
    "session": (
        lambda s: marked(s).groupBy("k", sf.session_window("ts", "9 minutes")).count(),
        "append",
        {},
    ),
    "limit": (lambda s: s.limit(5), "append", {}),
    "join": (joined, "append", {}),
    "join, format 3": (joined, "append", {"join__stateFormatVersion": "3"}),
    "pandas": (
        lambda s: s.groupBy("k").applyInPandasWithState(
            counted, "n long", "n long", "update", "NoTimeout"
        ),
        "update",
        {},
    ),
}  # fmt: skip
