"""Groups the rows of a map state by grouping key."""

from __future__ import annotations

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.rows.arrow import arrow_ints, arrow_offsets
from keyfold.rows.places import read
from keyfold.state.merge import Rows


def map_offsets(rows: Rows) -> tuple[pa.Array, pa.Array]:
    """An order that groups rows by grouping key, and the offset of each key's first row.

    The last offset is the number of rows. Keys are encoded `prefix:1`: length and bytes of the
    grouping key come first.
    """
    sizes = read(rows.key_data, rows.keys, "<u4").astype(np.int64)
    content = rows.key_data.tobytes()
    groups: dict[bytes, list[int]] = {}
    starts = (rows.keys.offsets() + 4).tolist()
    for index, (start, size) in enumerate(zip(starts, sizes.tolist(), strict=True)):
        groups.setdefault(content[start : start + size], []).append(index)
    order = [index for group in groups.values() for index in group]
    counts = [len(group) for group in groups.values()]
    return arrow_ints(np.array(order, dtype=np.int64)), arrow_offsets(
        np.concatenate(([0], np.cumsum(counts)))
    )
