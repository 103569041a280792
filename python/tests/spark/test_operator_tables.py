"""Rows of every operator and state variable equal those that Spark reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

import keyfold
from keyfold.settings import FORMAT_KEY
from kit.reading import compare
from kit.session import NEEDS_JAR
from python.tests.spark import processor
from python.tests.spark.operators import OPERATORS, SCHEMA, START, marked, rows
from python.tests.spark.processor import LONG_MS, Lasting, Total, Visits, WiderTotal, timed
from python.tests.spark.query import Query
from python.tests.spark.verbs import every_verb_works

pytestmark = NEEDS_JAR

# Spark's workers do not know the folders of tests.
cloudpickle.register_pickle_by_value(processor)


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


def test_a_timeout_of_state_format_1_is_shown_as_it_is_stored(
    spark: SparkSession, tmp_path: Path
) -> None:
    # Spark's schema says int where its operator stores a long: its own reader cuts it off.
    def build(stream: DataFrame) -> DataFrame:
        return (
            marked(stream)
            .groupBy("k")
            .applyInPandasWithState(timed, "n long", "n long", "update", "EventTimeTimeout")
        )

    version = {"flatMapGroupsWithState__stateFormatVersion": "1"}
    query = Query(spark, tmp_path, SCHEMA, build, **version)
    for batch in range(2):
        query.run(rows(batch))
    (operator,) = keyfold.open_checkpoint(query.checkpoint).operators
    shown = [row["value"] for row in operator.scan().to_pylist()]
    assert {it["timeoutTimestamp"] for it in shown} == {4 * LONG_MS}
    assert sum(it["n"] for it in shown) == 2 * len(rows(0))


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
