"""Spark's UnsafeRow to Arrow columns, by schema, a column at a time."""

from __future__ import annotations

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.rows.arrow import Flags, Ints, Octets, Places, arrow_offsets, ends_of, read
from keyfold.rows.values import fixed, spread, variable
from keyfold.schema.arrow_type import arrow_field, arrow_type
from keyfold.schema.data_type import WIDTHS, Array, Atomic, DataType, Decimal, Map, Struct
from keyfold.wire.cursor import MalformedError

_WORD = 8
_WORD_BITS = 64
_NO_NULLS: Flags | None = None


def struct_columns(data: Octets, rows: Places, sizes: Ints | int, it: Struct) -> list[pa.Array]:
    """The columns of rows that begin at `rows` and are `sizes` bytes long.

    Raises:
        MalformedError: the bytes are not rows of that struct.
    """
    bits = (len(it.fields) + _WORD_BITS - 1) // _WORD_BITS * _WORD
    smallest = bits + _WORD * len(it.fields)
    if rows.count and int(np.min(sizes)) < smallest:
        raise MalformedError(f"a row is too short for {len(it.fields)} columns")
    columns = []
    for index, field in enumerate(it.fields):
        octet = read(data, rows.plus(index // _WORD_BITS * _WORD + index % _WORD_BITS // 8), "u1")
        null = (octet.astype(np.uint8) >> (index % 8) & 1).astype(np.bool_)
        slots = rows.plus(bits + _WORD * index)
        columns.append(column(data, rows, slots, null if null.any() else None, field.type))
    return columns


def struct_array(data: Octets, rows: Places, sizes: Ints | int, it: Struct) -> pa.Array:
    """Rows as one column; raises as `struct_columns` does."""
    columns = struct_columns(data, rows, sizes, it)
    return as_struct(columns, it, rows.count)


def as_struct(columns: list[pa.Array], it: Struct, count: int) -> pa.Array:
    """A column of structs with these columns."""
    if not columns:
        return pa.array([{}] * count, arrow_type(it))
    return pa.StructArray.from_arrays(columns, fields=[arrow_field(field) for field in it.fields])


def column(  # noqa: PLR0911 - one for each layout
    data: Octets, bases: Places, slots: Places, null: Flags | None, it: DataType
) -> pa.Array:
    """A column whose values, or places of values relative to `bases`, are at `slots`."""
    if isinstance(it, Atomic) and it.name == "void":
        return pa.nulls(slots.count)
    if isinstance(it, Atomic) and it.name in WIDTHS:
        return fixed(data, slots, null, it.name)
    if isinstance(it, Decimal) and it.is_long:
        return fixed(data, slots, null, it)
    if null is not None:
        held = ~null
        found = column(data, bases.pick(held), slots.pick(held), _NO_NULLS, it)
        return spread(found, held)
    words = read(data, slots, "<u8").astype(np.uint64)
    starts = bases.offsets() + (words >> np.uint64(32)).astype(np.int64)
    sizes = (words & np.uint64(0xFFFFFFFF)).astype(np.int64)
    if len(starts) and int((starts + sizes).max()) > len(data):
        raise MalformedError("a row ends before a value in it does")
    match it:
        case Struct():
            return struct_array(data, Places.of(starts), sizes, it)
        case Array(element):
            offsets, values = _elements(data, starts, sizes, element)
            return pa.ListArray.from_arrays(offsets, values, arrow_type(it))
        case Map():
            return _map(data, starts, sizes, it)
        case _:
            return variable(data, starts, sizes, it)


def _map(data: Octets, starts: Ints, sizes: Ints, it: Map) -> pa.Array:
    key_sizes = read(data, Places.of(starts), "<i8").astype(np.int64)
    if len(starts) and (int(key_sizes.min()) < 0 or int((key_sizes + _WORD - sizes).max()) > 0):
        raise MalformedError("the keys of a map are longer than the map")
    offsets, keys = _elements(data, starts + _WORD, key_sizes, it.key)
    of_values, values = _elements(
        data, starts + _WORD + key_sizes, sizes - _WORD - key_sizes, it.value
    )
    if not offsets.equals(of_values):
        raise MalformedError("a map does not have a value for each key")
    return pa.MapArray.from_arrays(offsets, keys, values, arrow_type(it))


def _elements(
    data: Octets, starts: Ints, sizes: Ints, element: DataType
) -> tuple[pa.Array, pa.Array]:
    """Offsets and elements of arrays that begin at `starts`."""
    counts = read(data, Places.of(starts), "<i8").astype(np.int64)
    width = _width(element)
    # Each element takes at least a bit.
    if len(counts) and (int(counts.min()) < 0 or bool((counts > sizes * 8).any())):
        raise MalformedError("an array is longer than its bytes")
    heads = _WORD + (counts + _WORD_BITS - 1) // _WORD_BITS * _WORD
    if len(counts) and int((heads + counts * width - sizes).max()) > 0:
        raise MalformedError("an array is longer than its bytes")
    offsets = ends_of(counts)
    places = np.arange(offsets[-1], dtype=np.int64) - np.repeat(offsets[:-1], counts)
    bases = np.repeat(starts, counts)
    octets = read(data, Places.of(bases + _WORD + places // 8), "u1")
    null = (octets.astype(np.uint8) >> (places % 8).astype(np.uint8) & 1).astype(np.bool_)
    slots = Places.of(bases + np.repeat(heads, counts) + places * width)
    values = column(data, Places.of(bases), slots, null if null.any() else None, element)
    return arrow_offsets(offsets), values


def _width(it: DataType) -> int:
    match it:
        case Atomic(name):
            return WIDTHS.get(name, 0 if name == "void" else _WORD)
        case _:
            return _WORD
