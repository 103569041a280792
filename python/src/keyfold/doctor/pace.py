"""How fast the batches of a query follow each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

# Fewer say too little.
LEAST_BATCHES = 10


@dataclass(frozen=True)
class Pace:
    """Committed batches with the number of partitions that the last one has, and their times in ms.

    Attributes:
        batches: their numbers, ascending, without a gap.
        mean_ms: from the start of one to the start of the next, with all the time between runs;
            None if there are fewer than ten.
        median_ms: the same within runs.
        duration_ms: the median of how long they took; None if that is not known.
        has_watermark: whether one of them had a watermark.
    """

    batches: range
    mean_ms: float | None
    median_ms: float | None
    duration_ms: float | None
    has_watermark: bool


def pace_of(table: pa.Table) -> Pace:
    """The pace of batches, from the table of all of them."""
    rows: list[dict[str, Any]] = []
    for row in reversed([it for it in table.to_pylist() if it["committed"]]):
        if rows and (
            row["batch_id"] != rows[-1]["batch_id"] - 1
            or row["partitions"] != rows[-1]["partitions"]
        ):
            break
        rows.append(row)
    rows.reverse()
    starts = [it["started_ms"] for it in rows]
    took = [it["duration_ms"] for it in rows if it["duration_ms"] is not None]
    apart = [] if None in starts else [b - a for a, b in pairwise(starts)]
    is_known = len(rows) >= LEAST_BATCHES and bool(apart) and min(apart) >= 0 and sum(apart) > 0
    return Pace(
        batches=range(rows[0]["batch_id"], rows[-1]["batch_id"] + 1) if rows else range(0),
        mean_ms=sum(apart) / len(apart) if is_known else None,
        median_ms=max(median(apart), 1.0) if is_known else None,
        duration_ms=median(took) if is_known and took else None,
        has_watermark=any(it["watermark_ms"] for it in rows),
    )
