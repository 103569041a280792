"""What an operator yields is what its schema says, or is refused."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from keyfold.errors import OperatorOutputError
from keyfold.subtasks.output import OutputTables

AWARE = dt.datetime(2026, 11, 1, 6, 30, tzinfo=dt.timezone.utc)
NAIVE = AWARE.replace(tzinfo=None)
ZONED, WALL = pa.timestamp("us", "UTC"), pa.timestamp("us")
INT = pa.schema({"v": pa.int32()})


def of(kind: pa.DataType) -> pa.Schema:
    return pa.schema({"v": kind})


def objects(*values: Any) -> pd.DataFrame:
    return pd.DataFrame({"v": pd.Series(values, dtype=object)})


def tables(output: Any, schema: pa.Schema) -> list[Any]:
    its = OutputTables("process of operator 'F'", schema).of(output)
    return [value for it in its for value in it.column("v").to_pylist()]


def returning() -> Iterator[pa.Table]:
    yield pa.table({"v": [1]})
    return pa.table({"v": [2]})


@pytest.mark.parametrize(
    ("schema", "rows", "values"),
    [
        (INT, pa.table({"v": [1], "w": [2]}), [1]),
        (INT, pa.record_batch({"v": [1]}), [1]),
        (INT, pd.DataFrame({"v": [7.0, None]}), [7, None]),
        (of(ZONED), pd.DataFrame({"v": [AWARE]}), [AWARE]),
        (of(ZONED), pd.DataFrame({"v": [pd.NaT]}), [None]),
        (of(ZONED), pa.table({"v": pa.array([None])}), [None]),
        (of(WALL), pd.DataFrame({"v": [NAIVE]}), [NAIVE]),
        (of(pa.map_(pa.string(), ZONED)), objects({"a": AWARE}), [[("a", AWARE)]]),
    ],
)
def test_output_of_each_kind_is_taken(schema: pa.Schema, rows: Any, values: list[Any]) -> None:
    assert tables(iter([rows, rows]), schema) == values * 2
    assert tables(None, schema) == []


@pytest.mark.parametrize(
    ("schema", "output", "said"),
    [
        (INT, pa.table({"v": [1]}), "process of operator 'F' returned a Table: yield it"),
        (INT, pa.record_batch({"v": [1]}), "returned a RecordBatch: yield it"),
        (INT, pd.DataFrame({"v": [1]}), "returned a DataFrame: yield it"),
        (INT, 1, "returned a int"),
        (INT, returning(), "yields, and returned a Table"),
        (INT, [(1,)], "yielded a tuple: yield Arrow batches"),
        (INT, [pa.table({"w": [1]})], "without the column 'v': it has ['w']"),
        (INT, [pd.DataFrame()], "without the column 'v': it has []"),
        (INT, [pa.table({"v": [2**40]})], "column 'v' is no int32: Integer value 1099511627776"),
        (INT, [objects(7.5)], "column 'v' is no int32: Float value 7.5"),
        (INT, [pd.DataFrame({"v": ["x"]})], "column 'v' is no int32"),
        (of(ZONED), [pa.table({"v": [NAIVE]})], "times without a time zone"),
        (of(ZONED), [pd.DataFrame({"v": [NAIVE]})], "times without a time zone"),
        (of(ZONED), [objects(AWARE, NAIVE)], "has no time zone"),
        (of(ZONED), [pa.table({"v": [1]})], "it is int64"),
        (of(pa.map_(pa.string(), ZONED)), [objects({"a": NAIVE})], "times without a time zone"),
        (of(pa.list_(ZONED)), [pa.table({"v": [[NAIVE]]})], "times without a time zone"),
        (of(pa.struct({"t": ZONED})), [pa.table({"v": [{"t": NAIVE}]})], "without a time zone"),
        (of(WALL), [pa.table({"v": [AWARE]})], "its times have a time zone"),
        (pa.schema([pa.field("v", pa.int32(), nullable=False)]), [objects(None)], "it has NULL"),
    ],
)
def test_output_that_does_not_fit_is_refused(schema: pa.Schema, output: Any, said: str) -> None:
    with pytest.raises(OperatorOutputError, match=re.escape(said)):
        tables(output, schema)
