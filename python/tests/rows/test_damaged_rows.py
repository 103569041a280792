"""Bytes that are no rows are refused, whatever they are; nothing is read beyond them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyfold.rows.arrow import Places
from keyfold.rows.keys import key_columns
from keyfold.rows.unsafe_row import struct_array
from keyfold.schema.data_type import Array, Atomic, DataType, Decimal, Field, Map, Struct
from keyfold.wire.cursor import MalformedError


def struct(*types: DataType) -> Struct:
    return Struct(tuple(Field(f"c{i}", it, nullable=True) for i, it in enumerate(types)))


LONG, TEXT = Atomic("long"), Atomic("string")
SCHEMA = struct(
    LONG,
    TEXT,
    Decimal(30, 2),
    Atomic("interval"),
    Atomic("variant"),
    struct(TEXT, Atomic("boolean")),
    Array(struct(LONG, TEXT), nullable=True),
    Map(TEXT, Array(Atomic("short"), nullable=True), nullable=True),
)
ENCODINGS = ["row", "prefix:1", "range:0", "timestampPrefix", "timestampPostfix", "other"]


def small(draw: st.DrawFn) -> bytes:
    """Words that often are places and lengths within the row."""
    words = draw(st.lists(st.tuples(st.integers(0, 160), st.integers(0, 200)), max_size=40))
    nulls = draw(st.integers(0, 255))
    return (
        bytes([nulls])
        + bytes(7)
        + b"".join(size.to_bytes(4, "little") + at.to_bytes(4, "little") for at, size in words)
    )


rows = st.one_of(st.binary(max_size=200), st.composite(small)())


@settings(max_examples=400, deadline=None)
@given(st.lists(rows, min_size=1, max_size=4))
def test_rows(contents: list[bytes]) -> None:
    data = np.frombuffer(b"".join(contents), np.uint8)
    sizes = np.array([len(it) for it in contents], dtype=np.int64)
    places = Places.of(np.cumsum(sizes) - sizes)
    try:
        found = struct_array(data, places, sizes, SCHEMA)
    except MalformedError:
        return
    found.validate(full=True)
    assert len(found) == len(contents)


@settings(max_examples=200, deadline=None)
@given(rows, st.sampled_from(ENCODINGS))
def test_keys(content: bytes, encoding: str) -> None:
    data = np.frombuffer(content, np.uint8)
    sizes = np.array([len(content)], dtype=np.int64)
    try:
        found = key_columns(
            data, Places(None, 1, 0, len(content)), sizes, encoding, struct(LONG, LONG)
        )
    except MalformedError:
        return
    assert encoding != "other"
    assert [len(it) for it in found] == [1, 1]


def test_ordered_columns_are_read_back() -> None:
    """The bytes of docs/FORMAT.md, section 5, by hand."""
    rest = bytes(8) + (7).to_bytes(8, "little")
    keys = {
        -5: b"\x00" + (-5).to_bytes(8, "big", signed=True) + rest,
        5: b"\x01" + (5).to_bytes(8, "big") + rest,
        None: b"\x02" + bytes(8) + rest,
    }
    assert sorted(keys.values()) == list(keys.values())
    data = np.frombuffer(b"".join(keys.values()), np.uint8)
    sizes = np.full(3, 25, dtype=np.int64)
    first, second = key_columns(data, Places(None, 3, 0, 25), sizes, "range:0", struct(LONG, LONG))
    assert first.to_pylist() == list(keys)
    assert second.to_pylist() == [7, 7, 7]


@pytest.mark.parametrize("value", [0.0, -0.0, 1.5, -1.5, float("-inf")])
def test_ordered_floats(value: float) -> None:
    bits = int(np.float64(value).view(np.int64))
    negative = bits < 0
    ordered = ~bits if negative else bits
    key = bytes([0 if negative else 1]) + ordered.to_bytes(8, "big", signed=True)
    data = np.frombuffer(key, np.uint8)
    sizes = np.array([9], dtype=np.int64)
    (found,) = key_columns(data, Places(None, 1, 0, 9), sizes, "range:0", struct(Atomic("double")))
    assert str(found[0].as_py()) == str(value)


def test_timestamps() -> None:
    for value in (-(2**63), -1, 0, 2**63 - 1):
        turned = (value + 2**63).to_bytes(8, "big")
        row = bytes(8) + (7).to_bytes(8, "little")
        for encoding, key in (
            ("timestampPrefix", turned + row),
            ("timestampPostfix", row + turned),
        ):
            data, sizes = np.frombuffer(key, np.uint8), np.array([24], dtype=np.int64)
            found = key_columns(data, Places(None, 1, 0, 24), sizes, encoding, struct(LONG, LONG))
            assert [it[0].as_py() for it in found] == [7, value]
