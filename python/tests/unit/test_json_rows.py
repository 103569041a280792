"""Rows from JSON are those that were written as JSON."""

from __future__ import annotations

import json
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
        "small": pa.float32(),
        "count": pa.int32(),
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
    "small": 1.5,
    "count": -7,
    "yes": True,
    "nothing": None,
}
NOTHING = json.dumps(dict.fromkeys(ROW))


def test_what_was_written_is_read() -> None:
    rows = pa.Table.from_pylist([ROW, dict.fromkeys(ROW)], SCHEMA)
    lines = [json_text(it) for it in to_pylist(rows)]
    assert rows_of([lines[0], "", lines[1]], SCHEMA).equals(rows)


def test_what_is_left_out_is_not_taken_for_null() -> None:
    with pytest.raises(ValueError, match="line 1: local is missing of key, local"):
        rows_of(['{"key": {"user": "a", "at": null}}'], SCHEMA)
    key = pa.schema([SCHEMA.field("key")])
    with pytest.raises(ValueError, match="at is missing of user, at; write null"):
        rows_of(['{"key": {"user": "a"}}'], key)
    found = rows_of(['{"key": {"user": "a", "at": null}}'], key).to_pylist()
    assert found == [{"key": {"user": "a", "at": None}}]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[1]", "no object"),
        ("{", "line 2"),
        ('{"kye": {}}', "there is no kye, but key, local"),
    ],
)
def test_what_is_no_row_is_named(line: str, said: str) -> None:
    with pytest.raises(ValueError, match="line 2") as caught:
        rows_of([NOTHING, line], SCHEMA)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("key", '{"user": 1, "at": null}', "line 1"),
        ("key", '"a"', "'a' is no object with user, at"),
        ("key", '{"user": "a", "at": 1700000000000}', "write it as text"),
        ("local", '"2020-01-02T03:04:05+02:00"', "has a zone"),
        ("day", '"yesterday"', "yesterday"),
        ("day", "1", "write it as text"),
        ("price", '"1.234"', "line 1"),
        ("bytes", '"xy"', "hexadecimal"),
        ("yes", "2", "line 1"),
        ("count", "1.5", "1.5 is no whole number"),
        ("count", "true", "line 1"),
        ("share", "1e400", "too large for double"),
        ("share", "true", "True is no double"),
        ("key", '{"user": "a", "user": "b", "at": null}', "a member twice"),
        ("times", '[{"key": "a", "value": [], "more": 1}]', "there is no more, but key, value"),
        ("small", "1e300", "too large for float"),
        ("times", '{"a": [1]}', "is no list"),
        ("times", '[{"key": "a", "value": "12"}]', "'12' is no list"),
    ],
)
def test_what_does_not_fit_is_named(name: str, value: str, said: str) -> None:
    column = pa.schema([SCHEMA.field(name)])
    with pytest.raises(ValueError, match="line 1") as caught:
        rows_of([f'{{"{name}": {value}}}'], column)
    assert said in str(caught.value)


def test_other_columns_are_passed_over() -> None:
    key = pa.schema([SCHEMA.field("key")])
    found = rows_of(
        ['{"key": {"user": "a", "at": null}, "share": 1e400, "day": 1}'], key, ["share", "day"]
    )
    assert found.to_pylist() == [{"key": {"user": "a", "at": None}}]
    with pytest.raises(ValueError, match="there is no day, but key"):
        rows_of(['{"key": {"user": "a", "at": null}, "day": 1}'], key)


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
