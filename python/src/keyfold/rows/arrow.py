"""NumPy arrays as Arrow arrays, by their buffers: `pyarrow.array` would import pandas."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.rows.places import Flags


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
