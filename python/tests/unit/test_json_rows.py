"""Rows from JSON are those that were written as JSON."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest

from keyfold.text.arrow_values import to_pylist
from keyfold.text.json_rows import rows_of
from keyfold.text.json_text import json_text

SCHEMA = pa.schema(
    {
        "key": pa.struct({"user": pa.string(), "at": pa.timestamp("us", tz="UTC")}),
        "local": pa.timestamp("us"),
        "day": pa.date32(),
        "price": pa.decimal128(10, 2),
        "bytes": pa.binary(),
        "times": pa.map_(pa.string(), pa.list_(pa.int64())),
        "wait": pa.duration("us"),
        "share": pa.float64(),
        "yes": pa.bool_(),
        "nothing": pa.null(),
    }
)
ROW = {
    "key": {"user": "é", "at": datetime(2020, 1, 2, 3, 4, 5, 6, tzinfo=UTC)},
    "local": datetime(2020, 1, 2, 3),  # noqa: DTZ001 - it has no zone
    "day": date(1969, 12, 31),
    "price": Decimal("-12.30"),
    "bytes": b"\x00\xff",
    "times": [("a", [1, 2]), ("b", None)],
    "wait": timedelta(seconds=1.5),
    "share": -0.25,
    "yes": True,
    "nothing": None,
}


def test_what_was_written_is_read() -> None:
    rows = pa.Table.from_pylist([ROW, dict.fromkeys(ROW)], SCHEMA)
    lines = [json_text(it) for it in to_pylist(rows)]
    assert rows_of([lines[0], "", lines[1]], SCHEMA).equals(rows)


def test_what_is_left_out_is_null() -> None:
    found = rows_of(['{"key": {"user": "a"}}'], SCHEMA).to_pylist()
    assert found == [dict.fromkeys(ROW) | {"key": {"user": "a", "at": None}}]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[1]", "no object"),
        ("{", "line 2"),
        ('{"kye": {}}', "there is no kye, but key, local"),
        ('{"key": {"user": 1}}', "line 2"),
        ('{"key": "a"}', "'a' is no object with user, at"),
        ('{"day": "yesterday"}', "yesterday"),
        ('{"price": "1.234"}', "line 2"),
        ('{"bytes": "xy"}', "hexadecimal"),
        ('{"yes": 2}', "line 2"),
    ],
)
def test_what_does_not_fit_is_named(line: str, said: str) -> None:
    with pytest.raises(ValueError, match="line 2") as caught:
        rows_of(["{}", line], SCHEMA)
    assert said in str(caught.value)


def test_other_columns_are_passed_over() -> None:
    key = pa.schema([SCHEMA.field("key")])
    found = rows_of(
        ['{"key": {"user": "a"}, "share": 1e400, "day": -9999999}'], key, ["share", "day"]
    )
    assert found.to_pylist() == [{"key": {"user": "a", "at": None}}]
    with pytest.raises(ValueError, match="there is no day, but key"):
        rows_of(['{"key": {"user": "a"}, "day": 1}'], key)


def test_numbers_that_json_does_not_have_are_read_as_they_are_printed() -> None:
    shares = pa.schema([SCHEMA.field("share")])
    lines = ['{"share": Infinity}', '{"share": -Infinity}', '{"share": 1e300}']
    assert [it["share"] for it in rows_of(lines, shares).to_pylist()] == [
        float("inf"), float("-inf"), 1e300,
    ]  # fmt: skip
    days = pa.schema([SCHEMA.field("day")])
    assert (
        rows_of(['{"day": -9999999}'], days).column("day").cast(pa.int32())[0].as_py() == -9999999
    )


def test_two_fields_of_a_name_are_refused() -> None:
    twice = pa.struct([("count", pa.int64()), ("count", pa.int64())])
    with pytest.raises(ValueError, match="two fields of one name"):
        rows_of(['{"value": {"count": 1}}'], pa.schema({"value": twice}))


def test_no_rows_are_said() -> None:
    with pytest.raises(ValueError, match="no rows"):
        rows_of(["", "\n"], SCHEMA)
