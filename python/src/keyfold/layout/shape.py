"""Groups the rows of a map state by grouping key."""

from __future__ import annotations

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.rows.arrow import arrow_ints, arrow_offsets
from keyfold.rows.places import ends_of
from keyfold.state.entries import Rows


def map_offsets(rows: Rows) -> tuple[pa.Array, pa.Array]:
    """An order that groups rows by grouping key, and the offset of each key's first row.

    The last offset is the number of rows. Keys are encoded `prefix:1`: length and bytes of the
    grouping key come first.
    """
    groups: dict[bytes, list[int]] = {}
    for index, key in enumerate(rows.keys.to_pylist()):
        size = int.from_bytes(key[:4], "little")
        groups.setdefault(key[4 : 4 + size], []).append(index)
    order = [index for group in groups.values() for index in group]
    counts = np.array([len(group) for group in groups.values()], dtype=np.int64)
    return arrow_ints(np.array(order, dtype=np.int64)), arrow_offsets(ends_of(counts))
