"""State of an operator's subtasks in streaming queries on a real Spark."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql import SparkSession

import keyfold
from keyfold.errors import InvalidArgumentError, OperatorNameError, StateOutsideCallError
from kit.session import NEEDS_JAR
from python.tests.spark.subtasks import (
    VECTORS,
    Collector,
    Counter,
    Query,
    Rows,
    Rules,
    device_rows,
)

pytestmark = NEEDS_JAR
register_pickle_by_value(sys.modules[__name__])


def test_counts_of_two_subtasks_are_those_published(spark: SparkSession, tmp_path: Path) -> None:
    query = Query(spark, tmp_path, Counter())
    query.add("in", device_rows(VECTORS["split_list"]["records"]))
    df = keyfold.with_operator_state(
        query.source("in", "device string, v double"),
        query.function,
        "subtask int, count int",
        parallelism=2,
    )
    assert query.run(df) == sorted(map(tuple, VECTORS["split_list"]["parallelism_2"]))
    # By name and subtask, without a JVM.
    [operator] = keyfold.open_checkpoint(tmp_path / "checkpoint").operators
    rows = operator["counts"].scan().to_arrow().to_pylist()
    assert sorted((it["key"]["subtask"], it["list_element"]["count"]) for it in rows) == [
        (0, 2),
        (1, 1),
    ]


def test_lists_of_two_subtasks_are_those_published(spark: SparkSession, tmp_path: Path) -> None:
    vector = VECTORS["union_list"]["parallelism_2"]
    query = Query(spark, tmp_path, Collector())
    query.add("in", device_rows([it["in"] for it in vector]))
    df = keyfold.with_operator_state(
        query.source("in", "device string, v double"),
        query.function,
        "subtask int, list array<double>",
        parallelism=2,
    )
    assert query.run(df) == sorted((it["subtask"], it["list"]) for it in vector)
    # After a restart each goes on with its own.
    query.add("in", device_rows([["device-1", 11.0]]))
    assert query.run(df) == [(0, [7.0, 9.0, 11.0])]


def test_rules_come_before_the_rows_of_their_batch(spark: SparkSession, tmp_path: Path) -> None:
    query = Query(spark, tmp_path, Rules())
    query.add("in", device_rows([["a", 1.0], ["b", 2.0], ["c", 3.0]]))
    query.add("rules", [{"id": "id-1", "rule": "rule-1"}])
    df = keyfold.with_operator_state(
        query.source("in", "device string, v double"),
        query.function,
        "subtask int, line string",
        parallelism=2,
        broadcast=query.source("rules", "id string, rule string"),
    )

    def lines(rows: Rows) -> list[tuple[int, list[Any]]]:
        return [(subtask, json.loads(line)) for subtask, line in rows]

    first = [["id-1 rule-1 0"], ["id-1 rule-1 1"]]
    assert lines(query.run(df)) == [
        (0, ["a", first[0], False, []]),
        (0, ["c", first[0], False, []]),
        (1, ["b", first[1], False, []]),
    ]
    # A batch with rules alone reaches each subtask, which hears of the batch before.
    query.add("rules", [{"id": "id-1", "rule": "rule-2"}, {"id": "id-0", "rule": "rule-0"}])
    assert query.run(df) == []
    query.add("in", device_rows([["d", 1.0], ["e", 2.0]]))
    assert lines(query.run(df)) == [
        (0, ["d", ["id-0 rule-0 0", "id-1 rule-2 0"], True, [0, 1]]),
        (1, ["e", ["id-0 rule-0 1", "id-1 rule-2 1"], True, [0, 1]]),
    ]


def test_output_of_every_type_of_column(spark: SparkSession, tmp_path: Path) -> None:
    class Passes(keyfold.OperatorFunction):
        def process(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield from batches

    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    schema = (
        "at timestamp, local timestamp_ntz, day date, price decimal(20, 3), tags array<string>, "
        "sizes map<string, int>, inner struct<a: double, b: timestamp>, raw binary, ok boolean"
    )
    row = {
        "at": "2026-03-04 05:06:07.891234",
        "local": "2026-03-04T05:06:07.891234",
        "day": "2026-03-04",
        "price": 12345678901234567.125,
        "tags": ["a", None],
        "sizes": {"s": 1},
        "inner": {"a": 1.5, "b": "1969-12-31 23:59:59"},
        "raw": "aGk=",
        "ok": None,
    }
    query = Query(session, tmp_path, Passes())
    query.add("in", [row, dict.fromkeys(row)])
    df = keyfold.with_operator_state(
        query.source("in", schema), query.function, schema, parallelism=1
    )
    found: list[Any] = []
    writer = df.writeStream.foreachBatch(lambda it, _: found.extend(it.collect()))
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()
    read = session.read.schema(schema).json(str(tmp_path / "in")).collect()
    assert sorted(map(str, found)) == sorted(map(str, read))
    assert len(read) == 2


def test_a_row_goes_where_its_column_says(spark: SparkSession, tmp_path: Path) -> None:
    query = Query(spark, tmp_path, Collector())
    query.add("in", [{"shard": it % 4, "v": float(it)} for it in range(-4, 8)])
    df = keyfold.with_operator_state(
        query.source("in", "shard long, v double"),
        query.function,
        "subtask int, list array<double>",
        parallelism=3,
        route="shard",
    )
    last = dict(query.run(df))
    assert last == {
        0: [float(it) for it in range(-4, 8) if it % 4 % 3 == 0],
        1: [float(it) for it in range(-4, 8) if it % 4 == 1],
        2: [float(it) for it in range(-4, 8) if it % 4 == 2],
    }


def test_rows_of_several_tasks_arrive_in_the_order_of_each(
    spark: SparkSession, tmp_path: Path
) -> None:
    session = spark.newSession()
    # A task for each file, and several Arrow batches in each.
    session.conf.set("spark.sql.files.maxPartitionBytes", "600")
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "7")
    query = Query(session, tmp_path, Collector())
    files = [[float(100 * file + it) for it in range(30)] for file in range(3)]
    for values in files:
        query.add("in", [{"v": it} for it in values])
    df = keyfold.with_operator_state(
        query.source("in", "v double"),
        query.function,
        "subtask int, list array<double>",
        parallelism=1,
    )
    whole = max((seen for _, seen in query.run(df)), key=len)
    assert sorted(whole) == sorted(v for values in files for v in values)
    for file, values in enumerate(files):
        assert [v for v in whole if v // 100 == file] == values


def test_arguments_out_of_bounds_are_refused(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load()
    for bad in (
        {"parallelism": 0},
        {"parallelism": 129},
        {"parallelism": 3, "max_parallelism": 2},
        {"parallelism": 1, "max_parallelism": 32769},
        {"parallelism": 1, "name": "a b"},
        {"parallelism": 1, "route": "timestamp"},
        {"parallelism": 1, "route": "nothing"},
    ):
        with pytest.raises(InvalidArgumentError, match="Invalid"):
            keyfold.with_operator_state(stream, Counter(), "subtask int", **bad)
    with pytest.raises(InvalidArgumentError, match="streaming"):
        keyfold.with_operator_state(spark.range(1), Counter(), "subtask int", parallelism=1)


def test_an_unknown_redistribution_is_refused(spark: SparkSession) -> None:
    class Wrong(keyfold.OperatorFunction):
        def open(self, ctx: keyfold.OperatorContext) -> None:
            ctx.list_state("a", "v int", redistribute="shuffle")  # type: ignore[arg-type]

    with pytest.raises(InvalidArgumentError, match="redistribution 'shuffle'"):
        keyfold.with_operator_state(
            spark.readStream.format("rate").load(), Wrong(), "v int", parallelism=1
        )


def test_two_operators_of_one_name_are_refused(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load().selectExpr("cast(value as double) v")
    first = keyfold.with_operator_state(stream, Counter(), "v double", parallelism=1)
    keyfold.with_operator_state(first, Counter(), "v double", parallelism=1, name="other")
    with pytest.raises(OperatorNameError, match="'Counter'"):
        keyfold.with_operator_state(first, Counter(), "v double", parallelism=1)


def test_a_state_is_refused_after_its_call(spark: SparkSession) -> None:
    kept = []

    class Keeps(keyfold.OperatorFunction):
        def open(self, ctx: keyfold.OperatorContext) -> None:
            kept.extend([ctx.list_state("a", "v int"), ctx.broadcast_state("b", "k int", "v int")])
            kept[0].add(1)
            assert kept[0].get() == [(1,)]

    stream = spark.readStream.format("rate").load()
    keyfold.with_operator_state(stream, Keeps(), "v int", parallelism=1)
    for use in (kept[0].get, kept[0].clear, kept[1].items):
        with pytest.raises(StateOutsideCallError, match="operator 'Keeps'"):
            use()


def test_other_states_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    class Other(Collector):
        def open(self, ctx: keyfold.OperatorContext) -> None:
            self.subtask = ctx.subtask
            self.seen = ctx.list_state("seen", "v double")

    query = Query(spark, tmp_path, Collector())

    def run(function: keyfold.OperatorFunction) -> Rows:
        query.add("in", device_rows([["a", 7.0]]))
        source = query.source("in", "device string, v double")
        schema = "subtask int, list array<double>"
        return query.run(
            keyfold.with_operator_state(source, function, schema, parallelism=1, name="op")
        )

    assert run(Collector()) == [(0, [7.0])]
    with pytest.raises(Exception, match="KEYFOLD_OPERATOR_STATE_CHANGED"):
        run(Other())


@pytest.mark.parametrize(
    ("changed", "part"), [("list", "VALUE"), ("key", "KEY"), ("value", "VALUE")]
)
def test_another_schema_is_refused(
    spark: SparkSession, tmp_path: Path, changed: str, part: str
) -> None:
    class Typed(keyfold.OperatorFunction):
        def __init__(self, changed: str) -> None:
            self.changed = changed

        def open(self, ctx: keyfold.OperatorContext) -> None:
            kind = {
                it: "string" if it == self.changed else "int" for it in ("list", "key", "value")
            }
            ctx.list_state("a", f"v {kind['list']}")
            ctx.broadcast_state("b", f"k {kind['key']}", f"v {kind['value']}")

    query = Query(spark, tmp_path, Typed(""))

    def run(changed: str) -> Rows:
        query.add("in", device_rows([["a", 7.0]]))
        source = query.source("in", "device string, v double")
        return query.run(
            keyfold.with_operator_state(source, Typed(changed), "v int", parallelism=1)
        )

    assert run("") == []
    with pytest.raises(Exception, match=f"STATE_STORE_{part}_SCHEMA_NOT_COMPATIBLE"):
        run(changed)
    # Nothing was lost.
    assert run("") == []
