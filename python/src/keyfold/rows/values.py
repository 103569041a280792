"""Values of one type, of fixed or variable width, to Arrow."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.rows.arrow import (
    Flags,
    Ints,
    Octets,
    Places,
    arrow_flags,
    arrow_ints,
    gather,
    read,
    validity,
)
from keyfold.schema.arrow_type import arrow_type
from keyfold.schema.data_type import DTYPES, Atomic, DataType, Decimal
from keyfold.wire.cursor import MalformedError

_DECIMAL_BYTES = 16
_INTERVAL_BYTES = 16


def fixed(data: Octets, slots: Places, null: Flags | None, it: str | Decimal) -> pa.Array:
    """A column of values that are stored in their slots."""
    if isinstance(it, Decimal):
        # The same numbers without their scale, which a long has not.
        unscaled = arrow_ints(read(data, slots, "<i8").astype(np.int64), null)
        return unscaled.cast(pa.decimal128(19, 0)).view(arrow_type(it))
    return of_numbers(read(data, slots, DTYPES[it]), null, it)


def of_numbers(values: npt.NDArray[np.generic], null: Flags | None, it: str) -> pa.Array:
    """A column of numbers of Spark's width, without a copy."""
    arrow = arrow_type(Atomic(it))
    if it == "boolean":
        return arrow_flags(values, null)
    return pa.Array.from_buffers(arrow, len(values), [validity(null), pa.py_buffer(values)])


def variable(data: Octets, starts: Ints, sizes: Ints, it: DataType) -> pa.Array:
    """A column of values outside of their slots, none of them null."""
    match it:
        case Decimal():
            return _wide_decimals(data, starts, sizes, it)
        case Atomic("interval"):
            return _intervals(data, starts, sizes)
        case Atomic("variant"):
            return _variants(data, starts, sizes)
        case _:
            return _texts(data, starts, sizes, arrow_type(it))


def spread(found: pa.Array, held: Flags) -> pa.Array:
    """The values at the places that are not null, nulls at the others."""
    index = np.cumsum(held) - 1
    return found.take(arrow_ints(index, ~held))


def _texts(data: Octets, starts: Ints, sizes: Ints, arrow: pa.DataType) -> pa.Array:
    content, offsets = gather(data, starts, sizes)
    if offsets[-1] > np.iinfo(np.int32).max:
        raise MalformedError("one column has more than 2 GiB in a partition; read fewer groups")
    found = pa.Array.from_buffers(
        arrow,
        len(starts),
        [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(np.ascontiguousarray(content))],
    )
    if pa.types.is_string(arrow):
        try:
            found.validate(full=True)
        except pa.ArrowInvalid:
            # Spark takes any bytes for a string, and shows what is not UTF-8 as this.
            texts = [it.as_py().decode(errors="replace") for it in found.cast(pa.binary())]
            return pa.array(texts, arrow)
    return found


def _wide_decimals(data: Octets, starts: Ints, sizes: Ints, it: Decimal) -> pa.Array:
    if len(sizes) and (int(sizes.min()) < 1 or int(sizes.max()) > _DECIMAL_BYTES):
        raise MalformedError("a decimal does not have 1 to 16 bytes")
    negative = read(data, Places.of(starts), "i1") < 0  # type: ignore[operator]
    # Spark's bytes are big-endian and as few as possible; Arrow's are little-endian, 16 bytes.
    wide = np.where(negative, np.uint8(255), np.uint8(0))[:, None].repeat(_DECIMAL_BYTES, axis=1)
    back = np.arange(_DECIMAL_BYTES)
    held = back < sizes[:, None]
    wide[held] = data[(starts + sizes - 1)[:, None] - back][held] if len(sizes) else 0
    return pa.Array.from_buffers(arrow_type(it), len(starts), [None, pa.py_buffer(wide)])


def _intervals(data: Octets, starts: Ints, sizes: Ints) -> pa.Array:
    if len(sizes) and int(sizes.min()) < _INTERVAL_BYTES:
        raise MalformedError("an interval has less than 16 bytes")
    words = np.empty(len(starts), dtype=[("months", "<i4"), ("days", "<i4"), ("nanos", "<i8")])
    words["months"] = read(data, Places.of(starts), "<i4")
    words["days"] = read(data, Places.of(starts + 4), "<i4")
    words["nanos"] = read(data, Places.of(starts + 8), "<i8").astype(np.int64) * 1000
    arrow = arrow_type(Atomic("interval"))
    return pa.Array.from_buffers(arrow, len(starts), [None, pa.py_buffer(words)])


def _variants(data: Octets, starts: Ints, sizes: Ints) -> pa.Array:
    lengths = read(data, Places.of(starts), "<i4").astype(np.int64)
    if len(sizes) and (int(lengths.min()) < 0 or int((lengths + 4 - sizes).max()) > 0):
        raise MalformedError("a variant is longer than its bytes")
    arrow = arrow_type(Atomic("variant"))
    value = _texts(data, starts + 4, lengths, pa.binary())
    metadata = _texts(data, starts + 4 + lengths, sizes - 4 - lengths, pa.binary())
    return pa.StructArray.from_arrays([value, metadata], fields=list(arrow))
