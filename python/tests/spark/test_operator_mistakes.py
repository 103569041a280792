"""A mistake in an operator is named where it was made."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StructField, StructType

import keyfold
from keyfold.errors import InvalidArgumentError, OperatorOutputError
from kit.session import NEEDS_JAR
from python.tests.spark.subtasks import Query

pytestmark = NEEDS_JAR
register_pickle_by_value(sys.modules[__name__])

Context = keyfold.OperatorContext


def nothing(_: Context) -> None:
    pass


class Mistaken(keyfold.OperatorFunction):
    """Does what it is given to do."""

    def __init__(
        self,
        opens: Callable[[Context], Any] = nothing,
        processes: Callable[[Context], Any] = nothing,
    ) -> None:
        self.opens, self.processes = opens, processes

    def open(self, ctx: Context) -> None:
        self.ctx = ctx
        self.opens(ctx)

    def process(self, _: Iterator[pa.RecordBatch]) -> Any:
        return self.processes(self.ctx)


@pytest.fixture
def stream(spark: SparkSession) -> DataFrame:
    return spark.readStream.format("rate").load().selectExpr("cast(value as int) v")


@pytest.mark.parametrize(
    ("opens", "said"),
    [
        (lambda ctx: ctx.list_state("s", "v strng!!"), "schema 'v strng!!' of state 's' of operat"),
        (lambda ctx: ctx.list_state("s", ""), "schema '' of state 's' of operator 'Mistaken'"),
        (lambda ctx: ctx.list_state("s", "int"), "must have columns"),
        (lambda ctx: ctx.list_state("s", "v interval"), "Keyfold converts no values to interval"),
        (lambda ctx: ctx.list_state("s", None), "schema None of state 's'"),
        (lambda ctx: ctx.list_state("s", LongType()), r"schema LongType\(\) of state 's'"),
        (lambda ctx: ctx.list_state("s", "a int, a int"), "has a name twice"),
        (lambda ctx: ctx.list_state("s", "v struct<a: int, a: int>"), "has a name twice"),
        (lambda ctx: ctx.list_state("s", "v array<struct<`a b`: int>>"), "the name 'a b' must be"),
        (lambda ctx: ctx.list_state("s", "`1a` int"), "the name '1a' must be"),
        (lambda ctx: ctx.list_state("s", "v map<int, int>"), r"keys of type string alone.*<int,"),
        (lambda ctx: ctx.list_state("s", "v array<map<date, int>>"), "keys of type string alone"),
        (lambda ctx: ctx.broadcast_state("s", "k map<int, int>", "v int"), "the key of state 's'"),
        (lambda ctx: ctx.list_state(5, "v int"), "state 5 of operator .* must be a str"),
        (lambda ctx: ctx.list_state(" ", "v int"), "Spark takes no such name"),
        (lambda ctx: ctx.list_state("s\n", "v int"), "Spark takes no such name"),
        (lambda ctx: ctx.broadcast_state("s", "v strng!!", "v int"), "of the key of state 's'"),
        (lambda ctx: ctx.broadcast_state("s", "v int", "v strng!!"), "of state 's'"),
        (lambda ctx: ctx.list_state("subtask_of_B", "v int"), "Choose another name"),
        (lambda ctx: ctx.list_state("default", "v int"), "Spark takes no such name"),
        (lambda ctx: [ctx.list_state("s", "v int") for _ in range(2)], "Take each once"),
    ],
)
def test_a_state_is_refused_when_it_is_declared(
    stream: DataFrame, opens: Callable[[Context], Any], said: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        keyfold.with_operator_state(stream, Mistaken(opens), "v int", parallelism=1)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"parallelism": "2"}, "Invalid parallelism: '2'"),
        ({"parallelism": True}, "Invalid parallelism: True"),
        ({"max_parallelism": None}, "Invalid max_parallelism: None"),
        ({"schema": "v strng!!"}, "schema 'v strng!!' of the output of operator 'Mistaken'"),
        ({"schema": ""}, "must have columns"),
        ({"schema": None}, "schema None of the output"),
        ({"schema": "v int, v int"}, "has a name twice"),
        ({"schema": "v char(3)"}, "of the output of operator 'Mistaken': .*not supported"),
        ({"schema": "v array<interval month>"}, "of the output .*not supported"),
        ({"route": ["v"]}, r"Invalid route \['v'\]: must be a column of integers, one of \['v'\]"),
        ({"name": ""}, "Invalid name ''"),
        ({"broadcast": "rules"}, "Invalid DataFrame 'rules'"),
        ({"function": Mistaken}, "must be an instance of a subclass of OperatorFunction"),
        ({"function": Mistaken(threading.Lock())}, "its attribute 'opens' cannot be copied"),
    ],
)
def test_an_argument_is_refused(stream: DataFrame, changed: dict[str, Any], said: str) -> None:
    arguments: dict[str, Any] = {"function": Mistaken(), "schema": "v int", "parallelism": 2}
    with pytest.raises(InvalidArgumentError, match=said):
        keyfold.with_operator_state(stream, **(arguments | changed))


def test_a_schema_may_be_a_struct_type(spark: SparkSession, tmp_path: Path) -> None:
    schema = StructType([StructField("v", LongType(), metadata={"spark.watermarkDelayMs": 1})])

    def opens(ctx: Context) -> None:
        ctx.list_state("list", schema).add(1)
        ctx.broadcast_state("map", schema, schema).put((1,), (1,))

    query = Query(spark, tmp_path, Mistaken(opens, lambda _: [pa.table({"v": [7]})]))
    query.add("in", [{"v": 1}])
    out = keyfold.with_operator_state(
        query.source("in", "v int"), query.function, schema, parallelism=1
    )
    assert out.schema == StructType([StructField("v", LongType())])
    assert query.run(out) == [(7,)]
    query.add("in", [{"v": 1}])
    assert query.run(out) == [(7,)]


def test_a_key_in_open_may_have_arrays_and_maps(stream: DataFrame) -> None:
    found = []

    def opens(ctx: Context) -> None:
        state = ctx.broadcast_state("s", "a array<int>, m map<string, array<int>>", "v int")
        state.put(([1], {"x": [1], "y": None}), (1,))
        state.put(([1], {"y": None, "x": [1]}), (2,))
        state.put(([], None), (3,))
        state.remove(([], None))
        found.append((state.get(([1], {"x": [1], "y": None})), state.items()))

    keyfold.with_operator_state(stream, Mistaken(opens), "v int", parallelism=1)
    assert found == [((2,), [(([1], {"y": None, "x": [1]}), (2,))])]


class OpensLazily(Mistaken):
    def open(self, ctx: Context) -> Any:
        yield ctx


class OpensLater(Mistaken):
    async def open(self, ctx: Context) -> None:  # type: ignore[override]
        self.ctx = ctx


class HearsLazily(Mistaken):
    def notify_committed(self, batch_id: int) -> Any:
        yield batch_id


@pytest.mark.parametrize("function", [OpensLazily(), OpensLater()])
def test_an_open_that_python_does_not_run_is_refused(stream: DataFrame, function: Mistaken) -> None:
    with pytest.raises(OperatorOutputError, match=r"open of operator 'Opens.*' returned a "):
        keyfold.with_operator_state(stream, function, "v int", parallelism=1)


def test_a_notification_that_python_does_not_run_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    query = Query(spark, tmp_path, HearsLazily())
    df = keyfold.with_operator_state(
        query.source("in", "v int"), query.function, "v int", parallelism=1
    )
    query.add("in", [{"v": 1}])
    query.run(df)
    query.add("in", [{"v": 1}])
    with pytest.raises(Exception, match=r"KEYFOLD_OPERATOR_OUTPUT\W+notify_committed of operator"):
        query.run(df)


def take_of_one(ctx: Context) -> None:
    if ctx.subtask == 1:
        ctx.list_state("one", "v int")


def take_others(ctx: Context) -> None:
    ctx.list_state("one", "v int" if ctx.subtask == 0 else "v bigint")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (Mistaken(processes=lambda ctx: ctx.list_state("one", "v int")), "STATE_UNDECLARED"),
        (Mistaken(take_of_one), "STATE_UNDECLARED"),
        (Mistaken(take_others), "STATE_UNDECLARED"),
        (Mistaken(processes=lambda _: pa.table({"v": [1]})), "OUTPUT"),
    ],
    ids=["in process", "of one subtask", "another schema", "returned"],
)
def test_a_batch_fails_with_the_name_of_the_mistake(
    spark: SparkSession, tmp_path: Path, function: Mistaken, said: str
) -> None:
    query = Query(spark, tmp_path, function)
    query.add("in", [{"v": 1}])
    source = query.source("in", "v int")

    def df(function: keyfold.OperatorFunction) -> DataFrame:
        return keyfold.with_operator_state(source, function, "v int", parallelism=2, name="op")

    with pytest.raises(Exception, match=rf"KEYFOLD_OPERATOR_{said}\b.*'op'"):
        query.run(df(function))


def test_an_output_that_is_used_twice_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    query = Query(spark, tmp_path, Mistaken())
    query.add("in", [{"v": 1}])
    out = keyfold.with_operator_state(
        query.source("in", "v int"), query.function, "v int", parallelism=2
    )
    with pytest.raises(Exception, match=r"KEYFOLD_OPERATOR_NAME.*'Mistaken'.*is used twice"):
        query.run(out.filter("v < 2").union(out.filter("v >= 2")))
    assert not (tmp_path / "checkpoint/offsets").exists()
