"""Numbers at many offsets in bytes, and NumPy arrays as Arrow arrays and back, by their buffers.

pyarrow itself would import pandas.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.wire.cursor import MalformedError

Ints: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Octets: TypeAlias = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Places:
    """Offsets in bytes: `index`, or, when that is None, `count` of them `step` apart.

    Rows of one width are back to back and need no offset each.
    """

    index: Ints | None
    count: int
    start: int = 0
    step: int = 0

    @staticmethod
    def of(index: Ints) -> Places:
        """Any offsets."""
        return Places(index, len(index))

    def plus(self, offset: int) -> Places:
        """The same, moved by a number of bytes."""
        if self.index is None:
            return Places(None, self.count, self.start + offset, self.step)
        return Places(self.index + offset, self.count)

    def offsets(self) -> Ints:
        """The offsets themselves."""
        if self.index is None:
            return self.start + self.step * np.arange(self.count, dtype=np.int64)
        return self.index

    def pick(self, mask: Flags | Ints) -> Places:
        """Some of them."""
        return Places.of(self.offsets()[mask])


def read(data: Octets, places: Places, dtype: str) -> npt.NDArray[np.generic]:
    """A number of a NumPy type at each place; raises MalformedError past the end of the bytes."""
    size = np.dtype(dtype).itemsize
    if places.count == 0:
        return np.empty(0, dtype)
    if places.index is None:
        last = places.start + places.step * (places.count - 1) + size
        if places.start < 0 or last > len(data):
            raise MalformedError("a row ends before its columns do")
        strided: npt.NDArray[np.generic] = np.ndarray(
            (places.count,), dtype, data.data, places.start, (places.step,)
        )
        return np.ascontiguousarray(strided)
    index = places.index
    if len(data) < size or int(index.min()) < 0 or int(index.max()) + size > len(data):
        raise MalformedError("a row ends before its columns do")
    every: npt.NDArray[np.generic] = np.ndarray((len(data) - size + 1,), dtype, data.data, 0, (1,))
    return every[index]


def ends_of(lengths: npt.NDArray[np.integer]) -> Ints:
    """Where each of adjacent items of these lengths begins, and where the last ends."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def gather(data: Octets, starts: Ints, lengths: Ints) -> tuple[Octets, Ints]:
    """The slices of `data` back to back, and the offset of each and of the end."""
    offsets = ends_of(lengths)
    if len(starts) == 0 or offsets[-1] == 0:
        return np.empty(0, np.uint8), offsets
    if int(lengths.min()) < 0 or int(starts.min()) < 0 or int((starts + lengths).max()) > len(data):
        raise MalformedError("a row ends before a value in it does")
    if np.array_equal(starts[1:], starts[:-1] + lengths[:-1]):
        return data[starts[0] : starts[0] + offsets[-1]], offsets
    width = int(lengths[0])
    if width in _WIDTHS and bool((lengths == width).all()):
        return read(data, Places.of(starts), f"V{width}").view(np.uint8), offsets
    at = np.repeat(starts - offsets[:-1], lengths)
    at += np.arange(offsets[-1], dtype=np.int64)
    return data[at], offsets


# For wider slices of one length this is no faster than byte by byte.
_WIDTHS = range(1, 257)


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
