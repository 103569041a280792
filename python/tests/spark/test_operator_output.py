"""What an operator yields is what its schema says, or is refused."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import types
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from keyfold.errors import OperatorOutputError
from keyfold.subtasks.arguments import arrow_schema
from keyfold.subtasks.output import OutputTables

AWARE = dt.datetime(2026, 11, 1, 6, 30, tzinfo=dt.timezone.utc)
NAIVE = AWARE.replace(tzinfo=None)
IN_THE_GAP = dt.datetime(1582, 10, 10, tzinfo=dt.timezone.utc)
NEVER = dt.datetime.min.replace(tzinfo=dt.timezone.utc)
NAN = float("nan")
BOTH = [True, False]
INT, DOUBLE, STRING, ZONED, WALL = (
    IntegerType(),
    DoubleType(),
    StringType(),
    TimestampType(),
    TimestampNTZType(),
)
PAIR = StructType([StructField("x", INT), StructField("y", INT)])


def objects(*values: Any) -> pd.DataFrame:
    return pd.DataFrame({"v": pd.Series(values, dtype=object)})


def frame(*values: Any, dtype: str | None = None) -> pd.DataFrame:
    return pd.DataFrame({"v": pd.Series(values, dtype=dtype)})


def table(*values: Any, kind: pa.DataType | None = None) -> pa.Table:
    return pa.table({"v": pa.array(values, kind)})


def tables(output: Any, kind: DataType, *, nullable: bool = True) -> list[Any]:
    schema = StructType([StructField("v", kind, nullable)])
    its = OutputTables("process of operator 'F'", schema, arrow_schema("the output", schema))
    return [value for it in its.of(output) for value in it.column("v").to_pylist()]


def returning() -> Iterator[pa.Table]:
    yield table(1)
    return table(2)


@pytest.mark.parametrize(
    ("kind", "rows", "values"),
    [
        (INT, pa.table({"v": [1], "w": [2]}), [1]),
        (INT, pa.record_batch({"v": [1]}), [1]),
        (INT, frame(7.0, None), [7, None]),
        (INT, frame(7, None, dtype="Int64"), [7, None]),
        (INT, objects(7.0, None, NAN, pd.NA, pd.NaT), [7, None, None, None, None]),
        (INT, table(7.0), [7]),
        (INT, table(None), [None]),
        (DOUBLE, table(2**53 + 2), [2.0**53 + 2]),
        (FloatType(), table(0.1), [np.float32(0.1)]),
        (STRING, frame("a", None), ["a", None]),
        (STRING, frame("a", None, dtype="category"), ["a", None]),
        (STRING, frame(NAN), [None]),
        (STRING, objects("a", NAN), ["a", None]),
        (STRING, objects("a", pd.NA, np.str_("b")), ["a", None, "b"]),
        (BinaryType(), objects(b"a", bytearray(b"b")), [b"a", b"b"]),
        (BooleanType(), frame(*BOTH), BOTH),
        (DecimalType(10, 2), table(Decimal("1.5"), 2), [Decimal("1.50"), Decimal("2.00")]),
        (DateType(), objects(NAIVE.date()), [NAIVE.date()]),
        (ZONED, frame(AWARE), [AWARE]),
        (ZONED, frame(pd.Timestamp(AWARE), dtype="datetime64[ns, Europe/Berlin]"), [AWARE]),
        (ZONED, objects(AWARE, pd.NaT), [AWARE, None]),
        (ZONED, frame(pd.NaT, dtype="datetime64[us, UTC]"), [None]),
        (ZONED, frame(pd.NaT), [None]),
        (ZONED, table(None), [None]),
        (WALL, frame(NAIVE), [NAIVE]),
        (ArrayType(INT), table([1, None]), [[1, None]]),
        (ArrayType(DOUBLE), objects(np.array([1, 2])), [[1.0, 2.0]]),
        (ArrayType(ZONED), table([AWARE], kind=pa.list_(pa.timestamp("ns", "UTC"))), [[AWARE]]),
        (MapType(STRING, ZONED), objects({"a": AWARE}), [[("a", AWARE)]]),
        (MapType(INT, INT), table([(1, 2)], kind=pa.map_(pa.int64(), pa.int64())), [[(1, 2)]]),
        (PAIR, objects({"y": 2, "x": 1}, (1, 2)), [{"x": 1, "y": 2}] * 2),
        (PAIR, table({"y": 2, "x": 1}), [{"x": 1, "y": 2}]),
        (DayTimeIntervalType(), frame(dt.timedelta(1)), [dt.timedelta(1)]),
        (DayTimeIntervalType(), objects(None, dt.timedelta(1)), [None, dt.timedelta(1)]),
        (DayTimeIntervalType(), objects(None), [None]),
        (DayTimeIntervalType(), pd.DataFrame(columns=["v"]), []),
        (DayTimeIntervalType(), table(None), [None]),
        # PySpark would not read these out of a state.
        (DateType(), objects(IN_THE_GAP.date()), [IN_THE_GAP.date()]),
        (ZONED, objects(NEVER, IN_THE_GAP), [NEVER, IN_THE_GAP]),
    ],
)
def test_output_of_each_kind_is_taken(kind: DataType, rows: Any, values: list[Any]) -> None:
    assert tables(iter([rows, rows]), kind) == values * 2
    assert tables(None, kind) == []


@pytest.mark.skipif(not hasattr(types, "TimeType"), reason="Spark has TIME since 4.1")
def test_times_of_the_day_are_taken() -> None:
    noon = dt.time(12, 0, 0, 1)
    for rows in (objects(noon, None), table(noon, None, kind=pa.time64("us"))):
        assert tables([rows], types.TimeType()) == [noon, None]


def test_nan_is_a_number_in_arrow_and_missing_in_pandas() -> None:
    for kind in (DOUBLE, FloatType()):
        assert math.isnan(tables([table(NAN)], kind)[0])
        for rows in (frame(NAN), objects(NAN, None, np.float32("nan"), pd.NA)):
            assert set(tables([rows], kind)) == {None}


@pytest.mark.parametrize(
    ("kind", "output", "said"),
    [
        (INT, table(1), "process of operator 'F' returned a Table: yield it"),
        (INT, pa.record_batch({"v": [1]}), "returned a RecordBatch: yield it"),
        (INT, frame(1), "returned a DataFrame: yield it"),
        (INT, 1, "returned a int"),
        (INT, returning(), "yields, and returned a Table"),
        (INT, [(1,)], "yielded a tuple: yield Arrow batches"),
        (INT, [pa.table({"w": [1]})], "without the column 'v': it has ['w']"),
        (INT, [pd.DataFrame()], "without the column 'v': it has []"),
        (INT, [pd.DataFrame([[1, 2]], columns=["v", "v"])], "with several columns 'v'"),
    ],
)
def test_what_is_no_output_is_refused(kind: DataType, output: Any, said: str) -> None:
    with pytest.raises(OperatorOutputError, match=re.escape(said)):
        tables(output, kind)


@pytest.mark.parametrize(
    ("kind", "rows", "said"),
    [
        (INT, table(2**40), "column 'v' is no int: 1099511627776 is no int"),
        (INT, objects(7.5), "7.5 is no int"),
        (INT, objects(*BOTH), "True is no int"),
        (INT, table(NAN), "nan is no int"),
        (INT, frame("x"), "'x' is no int"),
        (INT, table("7"), "'7' is no int"),
        (LongType(), objects(2**70), "is no bigint"),
        (LongType(), table(AWARE), "is no bigint"),
        (DOUBLE, table(2**53 + 1), "9007199254740993 is no double"),
        (FloatType(), table(1e300), "1e+300 is no float"),
        (FloatType(), frame(1e300), "1e+300 is no float"),
        (BooleanType(), table(5), "5 is no boolean"),
        (BooleanType(), frame(0.5), "0.5 is no boolean"),
        (STRING, table(1), "1 is no string"),
        (BinaryType(), objects("a"), "'a' is no binary"),
        (DecimalType(10, 2), table(1.239), "1.239 is no decimal(10,2)"),
        (DecimalType(10, 2), table(Decimal("1.239")), "is no decimal(10,2)"),
        (DateType(), table(NAIVE), "is no date"),
        (DateType(), objects(NAIVE), "is no date"),
        (ZONED, table(NAIVE), "has no time zone"),
        (ZONED, frame(NAIVE), "has no time zone"),
        (ZONED, objects(AWARE, NAIVE), "has no time zone"),
        (ZONED, table(1), "1 is no timestamp"),
        (ZONED, table(1, kind=pa.timestamp("ns", "UTC")), "is no timestamp"),
        (WALL, table(AWARE), "has a time zone"),
        (ArrayType(INT), objects([7.5, 1]), "7.5 is no int"),
        (ArrayType(INT), table([2**40]), "1099511627776 is no int"),
        (ArrayType(INT, containsNull=False), table([1, None]), "the schema says NOT NULL"),
        (ArrayType(INT), objects([1, NAN]), "nan is no int"),
        (ArrayType(ZONED), objects([AWARE, NAIVE]), "has no time zone"),
        (ArrayType(ZONED), table([NAIVE], kind=pa.list_(pa.timestamp("us"), 1)), "no time zone"),
        (ArrayType(ZONED), table([NAIVE]), "has no time zone"),
        (ArrayType(WALL), objects([NAIVE, AWARE]), "has a time zone"),
        (MapType(STRING, INT), objects({"a": 7.5}), "7.5 is no int"),
        (MapType(STRING, INT), objects([("a", 1), ("a", 2)]), "is no map<string,int>"),
        (MapType(STRING, ZONED), objects({"a": NAIVE}), "has no time zone"),
        (PAIR, objects({"x": 7.5, "y": 1}), "7.5 is no int"),
        (PAIR, objects({"x": 1, "z": 2}), "has other names than x, y"),
        (PAIR, table({"x": 1, "z": 2}), "has other names than x, y"),
        (StructType([StructField("t", ZONED)]), objects({"t": AWARE}, {"t": NAIVE}), "time zone"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(kind: DataType, rows: Any, said: str) -> None:
    with pytest.raises(OperatorOutputError, match=re.escape(said)):
        tables([rows], kind)


@pytest.mark.parametrize("rows", [objects(None), frame(None, dtype="Int32"), table(None)])
def test_null_is_refused_where_the_schema_excludes_it(rows: Any) -> None:
    with pytest.raises(OperatorOutputError, match=r"NULL"):
        tables([rows], INT, nullable=False)
