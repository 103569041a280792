"""The vectorised hash against a plain Murmur3, and against Spark's own numbers."""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyfold.rows.partition_key import UnplacedKeyError, hash_of_values, hashes_of
from keyfold.rows.row_hash import row_hash
from keyfold.schema.data_type import Atomic, Field, Map, Struct
from keyfold.wire.cursor import MalformedError
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
    with pytest.raises(UnplacedKeyError):
        hash_of_values("path:1.0", KEY, {"user": 1})


def test_a_map_is_its_entries_one_after_the_other() -> None:
    """As Spark sorts them in a grouping key, however they are given."""
    it = Map(TEXT, LONG, nullable=True)
    key = Struct((Field("_groupingmapsort", it, nullable=True),))
    expected = 42
    for name, number in (("a", 1), ("b", None)):
        expected = of_text(name, expected & 0xFFFFFFFF)
        if number is not None:
            expected = murmur([number, 0], 8, expected & 0xFFFFFFFF)
    for value in ({"a": 1, "b": None}, {"b": None, "a": 1}, [("b", None), ("a", 1)]):
        assert hash_of_values("all", key, {"_groupingmapsort": value}) == expected
    maps = pa.array([None, [], [("a", 1), ("b", None)]], pa.map_(pa.string(), pa.int64()))
    assert row_hash([(maps, it)], 3).tolist() == [42, 42, expected]


def test_places_that_a_key_does_not_tell() -> None:
    other = Struct((Field("m", Map(TEXT, LONG, nullable=True), nullable=True),))
    keys = ((other, {"m": {"a": 1}}), (KEY, {"user": 1}), (KEY, {"user": 1, "at": {}}))
    for key, values in keys:
        with pytest.raises(UnplacedKeyError):
            hash_of_values("all", key, values)


def test_intervals() -> None:
    """Microseconds, then months; not the days."""
    values = pa.array([(1, -2, 3000), None], pa.month_day_nano_interval())
    expected = murmur([1], 4, murmur([3, 0], 8) & 0xFFFFFFFF)
    assert row_hash([(values, Atomic("interval"))], 2).tolist() == [expected, 42]


def test_type_that_places_no_row() -> None:
    variant = pa.array([{"value": b"", "metadata": b""}])
    with pytest.raises(MalformedError, match="variant"):
        row_hash([(variant, Atomic("variant"))], 1)


def test_zeros_and_not_numbers_are_one_each() -> None:
    values = pa.array([0.0, -0.0, float("nan"), np.frombuffer(b"\1\0\0\0\0\0\xf0\x7f")[0]])
    zero, minus, nan, other = row_hash([(values, Atomic("double"))], 4).tolist()
    assert zero == minus == hash_of(0)
    assert nan == other
