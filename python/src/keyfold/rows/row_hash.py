"""Spark's partitioning hash of Arrow columns, which decides where a row is stored."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.rows.arrow import Ints, Octets, Places, arrow_ints, numbers_of, placed, read
from keyfold.schema.data_type import Array, Atomic, DataType, Decimal, Map, Struct
from keyfold.wire.cursor import MalformedError

Hashes: TypeAlias = npt.NDArray[np.uint32]

# Of Murmur3, of many numbers or strings at once, each with its own seed.
_C1, _C2 = np.uint32(0xCC9E2D51), np.uint32(0x1B873593)
_M, _N = np.uint32(5), np.uint32(0xE6546B64)
_F1, _F2 = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)

SEED = 42

N = TypeVar("N", bound=np.generic)

_INTS = {"byte", "short", "integer", "date", "year_month"}
_LONGS = {"long", "timestamp", "timestamp_ntz", "day_time", "time"}


def hash_ints(values: npt.NDArray[np.int32], seeds: Hashes) -> Hashes:
    """Hashes of 4-byte numbers."""
    return _end(_mix(seeds, values.view(np.uint32)), np.uint32(4))


def hash_longs(values: npt.NDArray[np.int64], seeds: Hashes) -> Hashes:
    """Hashes of 8-byte numbers, the lower half first."""
    words = values.view(np.uint64)
    low = (words & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    high = (words >> np.uint64(32)).astype(np.uint32)
    return _end(_mix(_mix(seeds, low), high), np.uint32(8))


def hash_bytes(data: Octets, starts: Ints, sizes: Ints, seeds: Hashes) -> Hashes:
    """Hashes of strings: words of 4 bytes, then the rest byte by byte, as Spark does."""
    found = seeds.copy()
    rows = np.flatnonzero(sizes >= 4)  # noqa: PLR2004 - bytes of a word
    at = 0
    while len(rows):
        words = read(data, Places.of(starts[rows] + at), "<u4").astype(np.uint32)
        found[rows] = _mix(found[rows], words)
        at += 4
        rows = rows[sizes[rows] >= at + 4]
    aligned = sizes // 4 * 4
    for more in range(3):
        rows = np.flatnonzero(aligned + more < sizes)
        octets = read(data, Places.of(starts[rows] + aligned[rows] + more), "i1")
        found[rows] = _mix(found[rows], octets.astype(np.int32).view(np.uint32))
    return _end(found, sizes.astype(np.uint32))


def _mix(hashes: Hashes, words: Hashes) -> Hashes:
    mixed = _rotated(words * _C1, 15) * _C2
    return _rotated(hashes ^ mixed, 13) * _M + _N


def _end(hashes: Hashes, length: Hashes | np.uint32) -> Hashes:
    found = hashes ^ length
    found = (found ^ (found >> np.uint32(16))) * _F1
    found = (found ^ (found >> np.uint32(13))) * _F2
    return found ^ (found >> np.uint32(16))


def _rotated(words: Hashes, bits: int) -> Hashes:
    return (words << np.uint32(bits)) | (words >> np.uint32(32 - bits))


def row_hash(columns: list[tuple[pa.Array, DataType]], count: int) -> npt.NDArray[np.int32]:
    """Hash of each of `count` rows over columns in order.

    Raises:
        MalformedError: Spark places no row by a column of such a type.
    """
    found = np.full(count, SEED, dtype=np.uint32)
    for array, it in columns:
        found = _column(array, it, found)
    return found.view(np.int32)


def _column(array: pa.Array, it: DataType, seeds: Hashes) -> Hashes:
    if it == Atomic("void"):
        return seeds
    if array.null_count == 0:
        return _held(array, it, seeds)
    held = np.asarray(array.is_valid())
    found = seeds.copy()
    found[held] = _held(array.drop_null(), it, seeds[held])
    return found


def _held(array: pa.Array, it: DataType, seeds: Hashes) -> Hashes:  # noqa: C901, PLR0911 - types
    match it:
        case Struct(fields):
            found = seeds
            # A field is null where its struct is.
            for values, field in zip(array.flatten(), fields, strict=True):
                found = _column(values, field.type, found)
            return found
        case Array(element):
            return _elements(array, [(array.values, element)], seeds)
        case Map(key, value):
            return _elements(array, [(array.keys, key), (array.items, value)], seeds)
        case Decimal():
            return _decimals(array, it, seeds)
        case Atomic("boolean"):
            return hash_ints(np.asarray(array.cast(pa.int8())).astype(np.int32), seeds)
        case Atomic("float"):
            return hash_ints(_bits(array, np.float32(0), np.int32), seeds)
        case Atomic("double"):
            return hash_longs(_bits(array, np.float64(0), np.int64), seeds)
        case Atomic("string" | "binary"):
            return _texts(array, seeds)
        case Atomic(name) if name in _INTS:
            return hash_ints(numbers_of(array).astype(np.int32), seeds)
        case Atomic(name) if name in _LONGS:
            return hash_longs(numbers_of(array).astype(np.int64), seeds)
        case Atomic("interval"):
            return _intervals(array, seeds)
    raise MalformedError(f"rows are not placed by columns of type {it}")


def _bits(array: pa.Array, zero: np.floating, dtype: type[N]) -> npt.NDArray[N]:
    """Bits as in Java, with one zero and one NaN."""
    values = np.asarray(array)
    values = np.where(np.isnan(values), type(zero)(np.nan), np.where(values == 0, zero, values))
    return values.view(dtype)


def _texts(array: pa.Array, seeds: Hashes) -> Hashes:
    data, places, sizes = placed(array.cast(pa.large_binary()))
    return hash_bytes(data, places.offsets(), sizes, seeds)


def _decimals(array: pa.Array, it: Decimal, seeds: Hashes) -> Hashes:
    # An Arrow decimal has 16 bytes; the lower 8 are enough for a short one.
    words = np.frombuffer(array.buffers()[1], np.int64)[2 * array.offset :][: 2 * len(array)]
    if it.is_long:
        return hash_longs(np.ascontiguousarray(words[::2]), seeds)
    wide = words.tobytes()
    unscaled = [
        int.from_bytes(wide[at : at + 16], "little", signed=True) for at in range(0, len(wide), 16)
    ]
    lengths = [(it if it >= 0 else ~it).bit_length() // 8 + 1 for it in unscaled]
    texts = [it.to_bytes(n, "big", signed=True) for it, n in zip(unscaled, lengths, strict=True)]
    return _texts(pa.array(texts, pa.binary()), seeds)


def _intervals(array: pa.Array, seeds: Hashes) -> Hashes:
    """Without the days, which Spark's generated code leaves out."""
    parts = np.dtype([("months", "<i4"), ("days", "<i4"), ("nanos", "<i8")])
    values = np.frombuffer(array.buffers()[1], parts)[array.offset :][: len(array)]
    found = hash_longs(values["nanos"] // 1000, seeds)
    return hash_ints(np.ascontiguousarray(values["months"]), found)


def _elements(array: pa.Array, columns: list[tuple[pa.Array, DataType]], seeds: Hashes) -> Hashes:
    """Hashes of lists, whose elements have these columns."""
    found = seeds.copy()
    offsets = np.asarray(array.offsets).astype(np.int64)
    starts, sizes = offsets[:-1], np.diff(offsets)
    for at in range(int(sizes.max(initial=0))):
        rows = np.flatnonzero(sizes > at)
        index = arrow_ints(starts[rows] + at)
        for values, it in columns:
            found[rows] = _column(values.take(index), it, found[rows])
    return found
