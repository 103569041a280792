"""Conditions in text, against the same in plain Python."""

from __future__ import annotations

from datetime import datetime, timezone

import pyarrow as pa
import pytest

from keyfold.errors import InvalidArgumentError, KeyfoldError, UnknownNameError
from keyfold.table.column import project
from keyfold.table.condition import condition

START = datetime(2024, 1, 1, tzinfo=timezone.utc)
ROWS = [
    {"key": {"user": n % 4, "name": f"n{n}"}, "value": {"total": None if n % 3 == 0 else n / 2},
     "at": START.replace(day=1 + n)}
    for n in range(12)
]  # fmt: skip
TABLE = pa.Table.from_pylist(
    ROWS,
    pa.schema(
        [
            ("key", pa.struct([("user", pa.int32()), ("name", pa.string())])),
            ("value", pa.struct([("total", pa.float64())])),
            ("at", pa.timestamp("us", tz="UTC")),
        ]
    ),
)


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("key.user == 2", lambda r: r["key"]["user"] == 2),
        ("user == 2", lambda r: r["key"]["user"] == 2),
        ("2 < user", lambda r: r["key"]["user"] > 2),
        ("0 < user <= 2", lambda r: 0 < r["key"]["user"] <= 2),
        ("user != 2 and not total > 3", lambda r: r["key"]["user"] != 2
         and r["value"]["total"] is not None and not r["value"]["total"] > 3),
        ("name in ('n1', 'n5') or user == 0", lambda r: r["key"]["name"] in ("n1", "n5")
         or r["key"]["user"] == 0),
        ("name not in ('n1',)", lambda r: r["key"]["name"] != "n1"),
        ("total is None", lambda r: r["value"]["total"] is None),
        ("value.total is not None", lambda r: r["value"]["total"] is not None),
        ("at >= '2024-01-08'", lambda r: r["at"].day >= 8),
        ("user < 1.5", lambda r: r["key"]["user"] < 1.5),
        ("total > user", lambda r: (r["value"]["total"] or -1) > r["key"]["user"]),
    ],
)  # fmt: skip
def test_rows_are_those_that_python_picks(text: str, test: object) -> None:
    found = TABLE.filter(condition(text, TABLE.schema)).to_pylist()
    assert [row["key"]["name"] for row in found] == [
        row["key"]["name"]
        for row in ROWS
        if test(row)  # type: ignore[operator]
    ]


@pytest.mark.parametrize(
    "text",
    ["", "user ==", "user = 2", "f(user) == 1", "user + 1 == 2", "user is 2", "1", "lambda: 1"],
)
def test_what_is_no_condition(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="condition"):
        condition(text, TABLE.schema)


@pytest.mark.parametrize("text", ["other == 1", "key.other == 1", "at.day == 1"])
def test_columns_that_are_not_there(text: str) -> None:
    with pytest.raises(UnknownNameError, match=r"key\.user, key\.name, value\.total, at"):
        condition(text, TABLE.schema)


def test_value_of_another_type() -> None:
    with pytest.raises(KeyfoldError, match="'x'"):
        condition("user == 'x'", TABLE.schema)


def test_columns_keep_the_names_they_were_asked_by() -> None:
    found = project(TABLE, ["name", "value.total", "at"])
    assert found.schema.names == ["name", "value.total", "at"]
    assert found.column("name").to_pylist() == [row["key"]["name"] for row in ROWS]
