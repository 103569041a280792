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

import keyfold
from keyfold.errors import InvalidArgumentError
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
        (lambda ctx: ctx.list_state("s", "v interval"), "subtasks keep no values of type interval"),
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
