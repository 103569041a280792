"""The vectorised hash against a plain Murmur3, and against Spark's own numbers."""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyfold.errors import InvalidArgumentError
from keyfold.rows.partition_key import hash_of_values, hashes_of
from keyfold.rows.row_hash import NoHashError, row_hash
from keyfold.schema.data_type import Atomic, Field, Map, Struct
from kit.state_writer import hash_of, murmur

LONG, TEXT = Atomic("long"), Atomic("string")
DAY = Struct((Field("day", LONG, nullable=True),))
KEY = Struct((Field("user", LONG, nullable=True), Field("at", DAY, nullable=True)))


def of_text(text: str, seed: int = 42) -> int:
    data = text.encode()
    aligned = len(data) // 4 * 4
    words = list(struct.unpack(f"<{aligned // 4}I", data[:aligned]))
    words += [it & 0xFFFFFFFF for it in struct.unpack(f"{len(data) - aligned}b", data[aligned:])]
    return murmur(words, len(data), seed)


def test_number_in_the_format_page() -> None:
    assert hash_of(1) == -1712319331
    assert row_hash([(pa.array([1]), LONG)], 1).tolist() == [-1712319331]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))))
def test_numbers(values: list[int | None]) -> None:
    expected = [42 if value is None else hash_of(value) for value in values]
    assert row_hash([(pa.array(values, pa.int64()), LONG)], len(values)).tolist() == expected


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=30)))
def test_texts(values: list[str]) -> None:
    found = row_hash([(pa.array(values, pa.string()), TEXT)], len(values))
    assert found.tolist() == [of_text(value) for value in values]


def test_columns_are_chained() -> None:
    first = hash_of(5) & 0xFFFFFFFF
    found = row_hash([(pa.array([5]), LONG), (pa.array(["ab"]), TEXT)], 1)
    assert found.tolist() == [of_text("ab", first)]


def test_rules_name_columns() -> None:
    columns = [pa.array([7, 8]), pa.array([{"day": 3}, None])]
    expected = {
        "constant": [0, 0],
        "first:1": [hash_of(7), hash_of(8)],
        "path:1.0": [hash_of(3), 42],
        "path:1": [hash_of(3), 42],
    }
    for rule, hashes in expected.items():
        assert hashes_of(rule, KEY, columns, 2).tolist() == hashes
    assert hash_of_values("path:1.0", KEY, {"at": {"day": 3}}) == hash_of(3)
    with pytest.raises(InvalidArgumentError, match=r"lacks at\."):
        hash_of_values("path:1.0", KEY, {"user": 1})


def test_type_that_places_no_row() -> None:
    with pytest.raises(NoHashError):
        row_hash(
            [
                (
                    pa.array([[(1, 2)]], pa.map_(pa.int64(), pa.int64())),
                    Map(LONG, LONG, nullable=True),
                )
            ],
            1,
        )


def test_zeros_and_not_numbers_are_one_each() -> None:
    values = pa.array([0.0, -0.0, float("nan"), np.frombuffer(b"\1\0\0\0\0\0\xf0\x7f")[0]])
    zero, minus, nan, other = row_hash([(values, Atomic("double"))], 4).tolist()
    assert zero == minus == hash_of(0)
    assert nan == other
