"""Rows of every operator and state variable equal those that Spark reads."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import processor
import pytest
from processor import Lasting, Total, Visits, WiderTotal, counted
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from reading import compare
from session import NEEDS_JAR, Query
from verbs import every_verb_works

import keyfold
from keyfold.settings import FORMAT_KEY

pytestmark = NEEDS_JAR

# Spark's workers do not know the folders of tests.
cloudpickle.register_pickle_by_value(processor)

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


@pytest.mark.parametrize("name", OPERATORS)
def test_operator(spark: SparkSession, tmp_path: Path, name: str) -> None:
    build, mode, conf = OPERATORS[name]
    query = Query(spark, tmp_path, SCHEMA, build, mode, **conf)
    for batch in range(3):
        query.run(rows(batch))
    opened = keyfold.open_checkpoint(query.checkpoint)
    last = opened.last_batch
    found = compare(spark, query.checkpoint)
    assert sum(found.values()) > 0
    compare(spark, query.checkpoint, last - 1)
    looks_up(query.checkpoint)
    every_verb_works(query.checkpoint)


def test_a_session_of_the_older_checkpoint_format_reads_the_newer(
    spark: SparkSession, tmp_path: Path
) -> None:
    # Spark's RocksDB provider cannot, since there the session's setting says how files are named.
    build, mode, conf = OPERATORS["agg"]
    query = Query(spark, tmp_path, SCHEMA, build, mode, **conf)
    for batch in range(2):
        query.run(rows(batch))
    older = spark.newSession()
    older.conf.set(FORMAT_KEY, "1")
    assert compare(older, query.checkpoint)["default"] > 0


def looks_up(checkpoint: Path) -> None:
    """Every key that a scan shows is found by itself, with the rows that the scan shows."""
    for operator in keyfold.open_checkpoint(checkpoint).operators:
        for table in operator.tables.values():
            shown = table.scan().to_pylist()
            for row in shown[:: max(1, len(shown) // 3)]:
                found = table.get(row["key"]).to_pylist()
                assert sorted(map(repr, found)) == sorted(
                    repr(it) for it in shown if it["key"] == row["key"]
                )


@pytest.mark.parametrize("encoding", ["unsaferow", "avro"])
def test_state_variables_and_timers(spark: SparkSession, tmp_path: Path, encoding: str) -> None:
    def build(stream: DataFrame) -> DataFrame:
        grouped = marked(stream).groupBy("k")
        return grouped.transformWithState(Visits(), "n long", "update", "EventTime")

    query = Query(spark, tmp_path, SCHEMA, build, stateStore__encodingFormat=encoding)
    for batch in range(2):
        query.run(rows(batch, 20))
    found = compare(spark, query.checkpoint)
    assert {name for name in found if not name.startswith("$")} == {
        "count", "names", "seen", "timers"
    }  # fmt: skip
    assert min(found.values()) > 0
    compare(spark, query.checkpoint, 0)
    tables = checked(query.checkpoint)
    timers = sorted(
        (repr(it["key"]), it["expiration_timestamp_ms"])
        for it in tables["timers"].scan().to_pylist()
    )
    index = tables["$eventTimers_timestampToKey"].scan().to_pylist()
    assert (
        sorted((repr(it["key"]["key"]), it["key"]["expiryTimestampMs"]) for it in index) == timers
    )


@pytest.mark.parametrize("encoding", ["unsaferow", "avro"])
def test_state_variables_that_expire(spark: SparkSession, tmp_path: Path, encoding: str) -> None:
    def build(stream: DataFrame) -> DataFrame:
        grouped = stream.groupBy("k")
        return grouped.transformWithState(Lasting(), "n long", "update", "ProcessingTime")

    query = Query(spark, tmp_path, SCHEMA, build, stateStore__encodingFormat=encoding)
    query.once = True
    for batch in range(2):
        query.run(rows(batch, 20))
    found = compare(spark, query.checkpoint)
    # Spark registers timers wherever there can be some.
    assert found.pop("timers") == 0
    assert set(found) == {"count", "names", "seen"}
    assert min(found.values()) > 0
    tables = checked(query.checkpoint)
    # What Spark keeps for itself is not shown by Spark; it says when each value expires.
    index = tables["$ttl_count"].scan().to_pylist()
    values = tables["count"].scan().to_pylist()
    assert sorted((repr(it["key"]["elementKey"]), it["key"]["expirationMs"]) for it in index) == (
        sorted((repr(it["key"]), it["value"]["ttlExpirationMs"]) for it in values)
    )


def test_rows_of_an_older_schema_are_shown_in_the_newest(
    spark: SparkSession, tmp_path: Path
) -> None:
    def of(processor: type[Total]) -> Any:
        return lambda stream: stream.groupBy("k").transformWithState(
            processor(), "n long", "update", "None"
        )

    query = Query(spark, tmp_path, SCHEMA, of(Total), stateStore__encodingFormat="avro")
    query.run([(key, None, START, key) for key in range(6)])
    query.build = of(WiderTotal)
    query.run([(key, None, START, key) for key in range(3, 9)])
    compare(spark, query.checkpoint)
    tables = checked(query.checkpoint)
    totals = {it["key"]["k"]: it["value"] for it in tables["total"].scan().to_pylist()}
    assert totals[2] == {"n": 2, "note": None}
    assert totals[8] == {"n": 8 + 2**40, "note": "note 8"}
    parts = [it["list_element"] for it in tables["parts"].get({"k": 4}).to_pylist()]
    assert parts == [{"n": 4, "note": None}, {"n": 4 + 2**40, "note": "note 4"}]
    before = {it["key"]["k"]: it["value"] for it in tables["total"].scan(batch=0).to_pylist()}
    assert {key: it["n"] for key, it in before.items()} == {key: key for key in range(6)}


def checked(checkpoint: Path) -> Any:
    """The tables of the only operator, all of which can be read, look-ups included."""
    opened = keyfold.open_checkpoint(checkpoint)
    for name, table in opened[0].tables.items():
        assert table.scan().to_arrow().num_rows == table.count(), name
    assert opened.fsck(deep=True).findings == ()
    looks_up(checkpoint)
    every_verb_works(checkpoint)
    return opened[0].tables
