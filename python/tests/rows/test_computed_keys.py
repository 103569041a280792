"""Keys that are stored with other types, or in another order, than Spark shuffles by."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from keyfold.rows.partition_key import hash_of_values, hashes_of
from keyfold.schema.arrow_type import arrow_type
from keyfold.schema.data_type import Field, Struct, parse_type
from keyfold.wire.cursor import MalformedError


def struct(**types: str) -> Struct:
    return Struct(tuple(Field(name, parse_type(it), nullable=True) for name, it in types.items()))


def hashed(rule: str, key: Struct, *rows: tuple[Any, ...]) -> list[int]:
    columns = [
        pa.array([row[number] for row in rows], arrow_type(key[number]))
        for number in range(len(key.fields))
    ]
    return list(hashes_of(rule, key, columns, len(rows)))


@pytest.mark.parametrize(
    ("shuffled", "stored", "value"),
    [
        ("integer", "long", -7),
        ("byte", "integer", 127),
        ("float", "double", 1.5),
        ("decimal(10,2)", "decimal(38,18)", Decimal("-99999999.99")),
        ("long", "decimal(38,18)", 2**40),
    ],
)
def test_a_wider_type_is_hashed_as_the_one_that_is_shuffled(
    shuffled: str, stored: str, value: Any
) -> None:
    given, kept = struct(value=shuffled), struct(value=stored)
    expected = hashed("all", given, (value,), (None,))
    assert hashed(f"all as 0:{shuffled}", kept, (value,), (None,)) == expected
    assert hash_of_values(f"all as 0:{shuffled}", kept, {"value": value}) == expected[0]
    # They do differ, or there would be nothing to compute.
    assert shuffled == "byte" or hashed("all", kept, (value,), (None,)) != expected


def test_columns_in_another_order_and_one_in_a_struct() -> None:
    kept = struct(number="long", text="string")
    expected = hashed("all", struct(text="string", number="integer"), ("a", 7))
    rule = "1;0:integer"
    assert hashed(f"all as {rule}", kept, (7, "a")) == expected
    inside = Struct((Field("key", kept, nullable=True), Field("userKey", kept, nullable=True)))
    assert (
        hashed(f"first:1 as {rule}", inside, ({"number": 7, "text": "a"}, None))
        == [hash_of_values(f"path:0 as {rule}", inside, {"key": {"number": 7, "text": "a"}})]
        == expected
    )


def test_a_value_that_no_row_can_have_is_where_null_is() -> None:
    kept = struct(value="long")
    found = hash_of_values("all as 0:integer", kept, {"value": 2**40})
    assert [found] == hashed("all", kept, (None,))
    # Beside others, too, which are where they belong.
    rows = [(7,), (2**40,), (None,), (-7,)]
    expected = hashed("all", struct(value="integer"), (7,), (None,), (None,), (-7,))
    assert hashed("all as 0:integer", kept, *rows) == expected


def test_a_rule_that_no_key_can_have_is_named() -> None:
    with pytest.raises(MalformedError, match="cannot be a"):
        hashed("all as 0:date", struct(value="boolean"), (True,))
