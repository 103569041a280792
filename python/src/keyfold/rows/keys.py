"""Keys to columns, by the encoding of their family (docs/FORMAT.md, section 5)."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.rows.arrow import Ints, Octets, Places, read
from keyfold.rows.unsafe_row import struct_columns
from keyfold.rows.values import of_numbers
from keyfold.schema.data_type import WIDTHS, Atomic, DataType, Struct
from keyfold.wire.cursor import MalformedError

# Ordinals of columns have few digits.
_PREFIX = re.compile(r"prefix:([1-9]\d{0,8})")
_RANGE = re.compile(r"range:(\d{1,9}(?:,\d{1,9})*)")
_NEGATIVE, _NULL = 0, 2
_TIMESTAMP_BYTES = 8
# Types of ordering columns, which are stored as big-endian integers of their width.
_ORDERED = {"boolean", "byte", "short", "integer", "long", "float", "double"}


def key_columns(
    data: Octets, keys: Places, sizes: Ints, encoding: str, it: Struct
) -> list[pa.Array]:
    """The columns of keys that begin at `keys` and are `sizes` bytes long.

    Raises:
        MalformedError: the bytes do not fit the encoding, or the encoding is not known.
    """
    if encoding == "row":
        return struct_columns(data, keys, sizes, it)
    ahead = columns_ahead(encoding, it)
    if encoding.startswith("prefix:"):
        return _prefixed(data, keys, sizes, len(ahead), it)
    if encoding.startswith("range:"):
        return _ranged(data, keys, sizes, ahead, it)
    return _timestamped(data, keys, sizes, it, ahead=encoding == "timestampPrefix")


def columns_ahead(encoding: str, it: Struct) -> list[int]:
    """The ordering columns of a range, or the first columns of a prefix; none for timestamps.

    Raises:
        MalformedError: the encoding is not known, or the key lacks its columns.
    """
    count = len(it.fields)
    if encoding in {"timestampPrefix", "timestampPostfix"} and count:
        return []
    prefix, ranged = _PREFIX.fullmatch(encoding), _RANGE.fullmatch(encoding)
    if prefix and int(prefix[1]) <= count:
        return list(range(int(prefix[1])))
    ordinals = [int(number) for number in ranged[1].split(",")] if ranged else []
    if ordinals and max(ordinals) < count and len(set(ordinals)) == len(ordinals):
        return ordinals
    raise MalformedError(
        f"its key encoding {encoding[:80]!r} is not known, or not of its {count} columns"
    )


def _prefixed(data: Octets, keys: Places, sizes: Ints, count: int, it: Struct) -> list[pa.Array]:
    first = read(data, keys, "<u4").astype(np.int64)
    if len(first) and int((first + 4 - sizes).max()) > 0:
        raise MalformedError("the first part of a key is longer than the key")
    head = keys.plus(4)
    uniform = len(first) > 0 and bool((first == first[0]).all())
    rest = head.plus(int(first[0])) if uniform else Places.of(head.offsets() + first)
    columns = struct_columns(data, head, first, it.take(range(count)))
    left = it.take(range(count, len(it.fields)))
    return columns + struct_columns(data, rest, sizes - 4 - first, left)


def _ranged(
    data: Octets, keys: Places, sizes: Ints, ordinals: list[int], it: Struct
) -> list[pa.Array]:
    columns: dict[int, pa.Array] = {}
    at = 0
    for ordinal in ordinals:
        columns[ordinal], width = _ordered(data, keys.plus(at), it[ordinal])
        at += 1 + width
    others = [index for index in range(len(it.fields)) if index not in columns]
    rest = struct_columns(data, keys.plus(at), sizes - at, it.take(others))
    columns |= dict(zip(others, rest, strict=True))
    return [columns[index] for index in range(len(it.fields))]


def _ordered(data: Octets, places: Places, it: DataType) -> tuple[pa.Array, int]:
    name = it.name if isinstance(it, Atomic) else ""
    if name not in _ORDERED:
        raise MalformedError(f"its keys are ordered by a column of type {it}")
    dtype = f">i{WIDTHS[name]}"
    marker = read(data, places, "u1")
    values = read(data, places.plus(1), dtype).astype(dtype.replace(">", "<"))
    if name in {"float", "double"}:
        negative = marker == _NEGATIVE
        values = np.where(negative, ~values, values).view(f"<f{values.itemsize}")
    null = marker == _NULL
    found = of_numbers(np.ascontiguousarray(values), null if null.any() else None, name)
    return found, values.itemsize


def _timestamped(
    data: Octets, keys: Places, sizes: Ints, it: Struct, *, ahead: bool
) -> list[pa.Array]:
    rest = sizes - _TIMESTAMP_BYTES
    if len(rest) and int(rest.min()) < 0:
        raise MalformedError("a key is too short for its timestamp")
    at = keys if ahead else Places.of(keys.offsets() + rest)
    turned = read(data, at, ">u8").astype(np.uint64) ^ np.uint64(1 << 63)
    rows = keys.plus(_TIMESTAMP_BYTES) if ahead else keys
    columns = struct_columns(data, rows, rest, it.take(range(len(it.fields) - 1)))
    last = it[len(it.fields) - 1]
    name = last.name if isinstance(last, Atomic) else "long"
    return [*columns, of_numbers(turned.view(np.int64), None, name)]
