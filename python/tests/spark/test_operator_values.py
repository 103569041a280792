"""Values in the state of an operator's subtasks are what was put in, or are refused."""

from __future__ import annotations

import datetime as dt
import re
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql import Row, SparkSession
from pyspark.sql.types import StructType

import keyfold
from keyfold.errors import OperatorStateValueError
from keyfold.subtasks.rows import RowType
from keyfold.subtasks.state import Call, Held, ListState
from kit.session import NEEDS_JAR
from python.tests.spark.subtasks import Query

pytestmark = NEEDS_JAR
register_pickle_by_value(sys.modules[__name__])

NOON = dt.datetime(2026, 7, 1, 12, 0, 0, 123456, tzinfo=dt.timezone.utc)
# No zone has in the first or the last a day that PySpark's calendar leaves out.
BEFORE_THE_GAP = dt.datetime(1582, 10, 3, 23, 59, 59, tzinfo=dt.timezone.utc)
IN_THE_GAP = dt.datetime.fromisoformat("1582-10-10T12:00")
AFTER_THE_GAP = dt.datetime(1582, 10, 16, tzinfo=dt.timezone.utc)

# Schema, what is put, and what comes back.
STORED: list[tuple[str, Any, Any]] = [
    ("v double", (7,), (7.0,)),
    ("v double", (np.float32(2.5),), (2.5,)),
    ("v int", (7.0,), (7,)),
    ("v int", (np.int64(7),), (7,)),
    ("v float", (0.1,), (0.10000000149011612,)),
    ("v decimal(10,2)", (5,), (Decimal("5.00"),)),
    ("v timestamp", (NOON.astimezone(dt.timezone(dt.timedelta(hours=-4))),), (NOON,)),
    ("v timestamp", (pd.Timestamp(NOON),), (NOON,)),
    ("v timestamp_ntz", (NOON.replace(tzinfo=None),), (NOON.replace(tzinfo=None),)),
    ("v date", (dt.date(1582, 10, 4),), (dt.date(1582, 10, 4),)),
    ("v date", (dt.date(1582, 10, 15),), (dt.date(1582, 10, 15),)),
    ("v timestamp", (BEFORE_THE_GAP,), (BEFORE_THE_GAP,)),
    ("v timestamp", (AFTER_THE_GAP,), (AFTER_THE_GAP,)),
    ("v timestamp_ntz", (IN_THE_GAP,), (IN_THE_GAP,)),
    ("v array<timestamp>", ([NOON, None],), ([NOON, None],)),
    ("v map<string, timestamp>", ({"a": NOON},), ({"a": NOON},)),
    ("v map<string, int>", ([("a", 1)],), ({"a": 1},)),
    ("v array<double>", (np.array([1, 2]),), ([1.0, 2.0],)),
    ("v array<int>", ([8, 8],), ([8, 8],)),
    ("v bigint", (2**53 + 1,), (2**53 + 1,)),
    (
        "a int, b struct<x: bigint, y: timestamp>",
        {"b": {"y": NOON, "x": 1}, "a": 2},
        (2, (1, NOON)),
    ),
    ("a int, b int", Row(b=2, a=1), (1, 2)),
    ("a int, b int", [1, None], (1, None)),
]

REFUSED: list[tuple[str, Any, str]] = [
    ("v int", (2**40,), "1099511627776 is no int"),
    ("v int", (True,), "True is no int"),
    ("v int", (7.5,), "7.5 is no int"),
    ("v int", ("7",), "'7' is no int"),
    ("v bigint", (np.datetime64(7, "ns"),), "is no bigint"),
    ("v double", (2**53 + 1,), "9007199254740993 is no double"),
    ("v float", (1e300,), "is no float"),
    ("v decimal(10,2)", (Decimal("1.239"),), "Decimal('1.239') is no decimal(10,2)"),
    ("v decimal(10,2)", (1.5,), "1.5 is no decimal(10,2)"),
    ("v string", (12,), "12 is no string"),
    ("v string", ("\ud800",), "is no string"),
    ("v binary", ("a",), "'a' is no binary"),
    ("v date", (NOON,), "is no date"),
    ("v date", (dt.date(1582, 10, 5),), "has no days between 1582-10-04 and 1582-10-15"),
    ("v array<date>", ([dt.date(1582, 10, 14)],), "would be on 1582-10-15"),
    ("v timestamp", (BEFORE_THE_GAP + dt.timedelta(seconds=1),), "in some zones would be on 1582"),
    ("v timestamp", (AFTER_THE_GAP - dt.timedelta(seconds=1),), "in some zones would be on 1582"),
    ("v timestamp", (NOON.replace(tzinfo=None),), "has no time zone"),
    ("v timestamp", ("2026-07-01 12:00:00",), "is no timestamp"),
    ("v timestamp", (dt.datetime(1, 1, 2, tzinfo=dt.timezone.utc),), "is before 0001-01-03"),
    ("v timestamp", (pd.NaT,), "NaT is no timestamp"),
    ("v timestamp_ntz", (NOON,), "has a time zone"),
    ("v boolean", (1,), "1 is no boolean"),
    ("v array<string>", ("abc",), "'abc' is no array<string>"),
    ("v array<int>", ([1, 2.5],), "2.5 is no int"),
    ("v map<string, int>", ([("a", 1), ("a", 2)],), "is no map<string,int>"),
    ("v struct<x: int, y: int>", ((1,),), "has 1 values for 2 fields"),
    ("v struct<x: int, y: int>", ({"x": 1},), "has other names than x, y"),
    ("v int not null", (None,), "the schema says NOT NULL"),
    ("a int, b int", (1,), "has 1 values for 2 fields"),
    ("a int, b int", (1, 2, 3), "has 3 values for 2 fields"),
    ("a int, b int", {"a": 1, "c": 2}, "has other names than a, b"),
    ("v string", "abc", "'abc' is no row"),
]


class Keeps(keyfold.OperatorFunction):
    """Puts each row into a list and a map, and yields what came back of it."""

    def open(self, ctx: keyfold.OperatorContext) -> None:
        self.lists = [ctx.list_state(f"l{i}", it[0]) for i, it in enumerate(STORED)]
        self.maps = [ctx.broadcast_state(f"m{i}", "k int", it[0]) for i, it in enumerate(STORED)]
        self.is_restored = ctx.is_restored

    def process(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        list(batches)
        for (schema, row, wanted), its, entries in zip(STORED, self.lists, self.maps, strict=True):
            if not self.is_restored:
                its.add_all([row] * 3)
                entries.put({"k": 1}, row)
            its.update(its.get())
            got = [*its.get(), entries.get((1,)), *entries.items()]
            same = got == [wanted, wanted, wanted, wanted, ((1,), wanted)]
            yield pa.table({"schema": [schema], "got": ["as it was put" if same else repr(got)]})


def test_values_come_back_as_the_schema_has_them(spark: SparkSession, tmp_path: Path) -> None:
    query = Query(spark, tmp_path, Keeps())
    df = keyfold.with_operator_state(
        query.source("in", "v int"), query.function, "schema string, got string", parallelism=1
    )
    for _ in range(2):
        query.add("in", [{"v": 1}])
        assert query.run(df) == sorted((schema, "as it was put") for schema, _, _ in STORED)


@pytest.mark.parametrize(("schema", "row", "said"), REFUSED)
def test_a_value_that_does_not_fit_is_refused_at_the_call(
    spark: SparkSession, schema: str, row: Any, said: str
) -> None:
    class Puts(keyfold.OperatorFunction):
        def open(self, ctx: keyfold.OperatorContext) -> None:
            its = ctx.list_state("its", schema)
            entries = ctx.broadcast_state("entries", schema, schema)
            for put in (its.add_all, its.update):
                with pytest.raises(OperatorStateValueError, match=re.escape(said)) as caught:
                    put([row, row])
                assert "state 'its' of operator 'Puts'" in str(caught.value)
            with pytest.raises(OperatorStateValueError, match=re.escape(said)):
                entries.put(row, row)
            with pytest.raises(OperatorStateValueError, match="the key of state 'entries'"):
                entries.get(row)
            assert (its.get(), entries.items()) == ([], [])

    keyfold.with_operator_state(
        spark.readStream.format("rate").load(), Puts(), "v int", parallelism=1
    )


def test_a_list_of_a_hundred_rows_does_not_go_through_pandas() -> None:
    """There, PySpark 4.1 makes NULL of NaN."""
    calls: list[tuple[str, int]] = []

    class Recorded:
        def put(self, rows: list[Any]) -> None:
            calls.append(("put", len(rows)))

        def appendList(self, rows: list[Any]) -> None:  # noqa: N802
            calls.append(("append", len(rows)))

    row = RowType("state", StructType().add("v", "double"))
    its = ListState("state", Held(Recorded(), row), Call("operator"))
    its.add_all([(1.0,)] * 100)
    its.update([(1.0,)] * 100)
    its.update([(1.0,)] * 99)
    assert calls == [("append", 1), ("append", 99), ("put", 1), ("append", 99), ("put", 99)]
