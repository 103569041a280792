"""NumPy arrays as Arrow arrays and back, by their buffers: pyarrow itself would import pandas."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.rows.places import Flags, Ints, Octets, Places


def arrow_ints(values: npt.NDArray[np.integer], null: Flags | None = None) -> pa.Array:
    """Integers of the same width."""
    held = np.ascontiguousarray(values)
    arrow = getattr(pa, f"int{8 * held.itemsize}")()
    return pa.Array.from_buffers(arrow, len(held), [validity(null), pa.py_buffer(held)])


def arrow_offsets(values: npt.NDArray[np.int64]) -> pa.Array:
    """Offsets of a list or a map."""
    return arrow_ints(values.astype(np.int32))


def arrow_flags(values: npt.NDArray[np.generic], null: Flags | None = None) -> pa.Array:
    """Truth values."""
    bits = np.packbits(values.astype(np.bool_), bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), len(values), [validity(null), pa.py_buffer(bits)])


def validity(null: Flags | None) -> pa.Buffer | None:
    """The validity bitmap; None if nothing is null."""
    return None if null is None else pa.py_buffer(np.packbits(~null, bitorder="little"))


def numbers_of(array: pa.Array) -> npt.NDArray[np.signedinteger]:
    """Numbers that Arrow keeps as integers of their width, such as dates; none of them null."""
    dtype = np.dtype(f"<i{array.type.bit_width // 8}")
    if not len(array):
        return np.zeros(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype)[array.offset :][: len(array)]


def offsets_of(array: pa.Array) -> Ints:
    """Where each of some large binaries or large lists begins, and where the last ends."""
    if not len(array):
        return np.zeros(1, dtype=np.int64)
    return np.frombuffer(array.buffers()[1], np.int64)[array.offset :][: len(array) + 1]


def placed(array: pa.Array) -> tuple[Octets, Places, Ints]:
    """The content of large binaries, and place and size of each."""
    offsets = offsets_of(array)
    sizes = np.diff(offsets)
    content = array.buffers()[2]
    data = np.frombuffer(content, np.uint8) if content else np.empty(0, np.uint8)
    if len(sizes) and bool((sizes == sizes[0]).all()):
        return data, Places(None, len(sizes), int(offsets[0]), int(sizes[0])), sizes
    return data, Places.of(offsets[:-1]), sizes
