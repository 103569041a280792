"""Grouping keys that are maps or have one in them, which Spark sorts and renames."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

import keyfold
from keyfold.errors import InvalidArgumentError
from keyfold.fsck.finding import Kind
from keyfold.table.operator import Operator
from kit.session import NEEDS_JAR
from python.tests.spark.query import Query

pytestmark = NEEDS_JAR

MAP = "m map<string,int>"


def opened(
    spark: SparkSession,
    root: Path,
    schema: str,
    build: Callable[[DataFrame], DataFrame],
    *batches: list[tuple[Any, ...]],
) -> Operator:
    """The operator of a query that has run these batches, whose checkpoint is healthy."""
    query = Query(spark, root, schema, build)
    for rows in batches:
        query.run(rows)
    found = keyfold.open_checkpoint(query.checkpoint)
    assert found.fsck(deep=True).findings == ()
    return found[0]


def counted(*names: str) -> Callable[[DataFrame], DataFrame]:
    return lambda stream: stream.groupBy(*names).count()


def counts(operator: Operator, key: dict[str, Any]) -> list[int]:
    return [row["value"]["count"] for row in operator.get(key).to_pylist()]


def test_a_map_is_found_in_any_order_by_the_users_name(spark: SparkSession, tmp_path: Path) -> None:
    one, other = {"ß": 1, "a": 2, "B": 3}, {"B": 3, "a": 2, "ß": 1}
    batches = [[(one, 1), (other, 1), ({"a": 1}, 1), ({}, 1), (None, 1)], [(other, 1)]]
    operator = opened(spark, tmp_path, f"{MAP}, v int", counted("m"), *batches)
    pairs = list(one.items())
    objects = [{"key": name, "value": it} for name, it in pairs]
    for given in (one, other, pairs, pairs[::-1], objects):
        assert counts(operator, {"m": given}) == [3]
        assert counts(operator, {"_groupingmapsort": given}) == [3]
        history = operator.history({"m": given}).to_pylist()
        assert [(row["batch_id"], row["value"]["count"]) for row in history] == [(0, 2), (1, 3)]
    assert counts(operator, {"m": {"a": 1}}) == [1]
    assert counts(operator, {"m": {}}) == counts(operator, {"m": None}) == [1]
    assert counts(operator, {"m": {"a": 2}}) == []
    # fsck looks at the hashes: with another seed none of them is right.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("keyfold.rows.row_hash.SEED", 43)
        found = keyfold.open_checkpoint(tmp_path / "cp").fsck(deep=True).findings
    assert {finding.kind for finding in found} == {Kind.WRONG_ROWS}
    # Of each key, as it is shown.
    for row in operator.scan().to_pylist():
        assert operator.get(row["key"]).to_pylist() == [row]


@pytest.mark.parametrize(("type_", "low", "high"), [
    ("int", -1, 1),
    ("double", -1.5, float("nan")),
    ("boolean", False, True),
    ("binary", b"a", b"\xff"),
    ("array<bigint>", [1], [1, 0]),
    ("struct<x:int,y:string>", {"x": None, "y": "b"}, {"x": 1, "y": "a"}),
    ("decimal(30,2)", Decimal("-2.50"), Decimal("10.00")),
    ("date", date(1, 1, 1), date(1970, 1, 1)),
])  # fmt: skip
def test_maps_of_each_type_of_names(
    spark: SparkSession, tmp_path: Path, type_: str, low: Any, high: Any
) -> None:
    """What Spark sorts, this package sorts in the same way."""

    def build(stream: DataFrame) -> DataFrame:
        made = sf.expr("map_from_arrays(if(n = 0, array(lo, hi), array(hi, lo)), array(1, 1))")
        return stream.groupBy(made.alias("m")).count()

    rows = [(number, low, high) for number in (0, 1)]
    operator = opened(spark, tmp_path, f"n int, lo {type_}, hi {type_}", build, rows)
    for pairs in ([(low, 1), (high, 1)], [(high, 1), (low, 1)]):
        assert counts(operator, {"m": pairs}) == [2]
        assert operator.history({"m": pairs}).num_rows == 1


def test_maps_in_structs_arrays_and_maps(spark: SparkSession, tmp_path: Path) -> None:
    inner = "map<int,map<int,array<map<string,int>>>>"
    one = {2: {7: [{"b": 1, "a": 2}], 6: []}, 1: {}}
    other = {1: {}, 2: {6: [], 7: [{"a": 2, "b": 1}]}}
    schema = f"k struct<deep:{inner},p:int>, v int"
    batch = [({"deep": one, "p": 1}, 1), ({"deep": other, "p": 1}, 1), ({"deep": {}, "p": 1}, 1)]
    operator = opened(spark, tmp_path, schema, counted("v", "k"), batch)
    for deep in (one, other):
        assert counts(operator, {"v": 1, "k": {"deep": deep, "p": 1}}) == [2]
    # A struct of which not all is given.
    assert sorted(counts(operator, {"v": 1, "k": {"p": 1}})) == [1, 2]


def test_names_that_spark_does_not_keep(spark: SparkSession, tmp_path: Path) -> None:
    operator = opened(
        spark, tmp_path, f"{MAP}, n map<int,int>", counted("m", "n"), [({"a": 1}, {1: 1})]
    )
    with pytest.raises(InvalidArgumentError, match="_groupingmapsort_0, _groupingmapsort_1"):
        operator.get({"m": {"a": 1}, "n": {1: 1}})
    key = {"_groupingmapsort_0": {"a": 1}, "_groupingmapsort_1": {1: 1}}
    assert counts(operator, key) == [1]
