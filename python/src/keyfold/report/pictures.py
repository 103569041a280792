"""The charts of a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.report.figure import COLOURS, GREY, drawing, from_zero, in_bytes, numbers, ranked
from keyfold.report.growth import Size

_MANY = 40
_MOST_BARS = 400
_MOST_STEPS = 400
_SECOND = 1000
# Width of the axes alone.
_POINTS = 540
# Colour of a kind of file; width of its line in points, and its largest share of a batch's room.
_KINDS = {
    "delta": (GREY, 3.0, 0.25),
    "merged delta": (COLOURS[2], 5.0, 0.6),
    "snapshot": (COLOURS[0], 7.0, 0.9),
    "reference": (COLOURS[1], 7.0, 0.9),
}


def growth(found: list[Size]) -> str:
    """State size and rows over batches, operators stacked."""
    with drawing("State size and rows over batches") as canvas:
        left, right = canvas.axes(1, 2), canvas.axes(2, 2)
        names = list(dict.fromkeys(it.operator for it in found))
        x = sorted({it.batch for it in found})
        for axes, what in ((left, "bytes"), (right, "rows")):
            values = {(it.batch, it.operator): getattr(it, what) for it in found}
            below = np.zeros(len(x))
            for name, color in zip(names, COLOURS * len(names), strict=False):
                above = below + np.array([values.get((it, name), 0) for it in x])
                axes.fill_between(x, below, above, color=color, alpha=0.3, linewidth=0, label=name)
                axes.plot(x, above, color=color, marker="o", markersize=2.5)
                below = above
            numbers(axes.xaxis)
        _name(left, "bytes of keys and values", "batch")
        _name(right, "rows", "batch")
        in_bytes(left)
        from_zero(right, integer=True)
        if len(names) > 1:
            canvas.legend(left)
    return canvas.svg


def spread(
    partitions: pa.Table, groups: pa.Table, of_groups: str = "bytes in files of the last batch"
) -> str:
    """Bytes by partition, and by key group, the largest first; `of_groups` says which bytes."""
    with drawing("Spread over partitions and key groups") as canvas:
        left, right = canvas.axes(1, 2), canvas.axes(2, 2)
        # A rescale does not know what each partition has; the groups in its files are known.
        known = partitions.column("live_bytes").null_count == 0
        sized, what = (partitions, "live_bytes") if known else (groups, "bytes")
        found = sized.group_by("partition").aggregate([(what, "sum")]).sort_by("partition")
        heights = [it or 0 for it in found.column(f"{what}_sum").to_pylist()]
        left.bar(found.column("partition").to_pylist(), heights, color=COLOURS[0], width=0.85)
        if heights:
            left.axhline(float(np.mean(heights)), color=COLOURS[1], linewidth=1.5)
        by_group = groups.group_by(["operator", "key_group"]).aggregate([("bytes", "sum")])
        weights = sorted((it or 0 for it in by_group.column("bytes_sum").to_pylist()), reverse=True)
        # By rank, so that one large group among thousands is visible; the others are thinned out.
        ranks = np.unique(np.geomspace(1, len(weights) + 1, _MOST_STEPS).astype(np.int64))
        right.stairs([weights[it - 1] for it in ranks[:-1]], ranks, fill=True, color=COLOURS[0])
        ranked(right, len(weights))
        title = "bytes of keys and values" if known else "bytes in files that are referred to"
        _name(left, f"{title}; the line is the mean", "partition")
        _name(right, of_groups, "key groups by rank, the heaviest is 1")
        numbers(left.xaxis)
        in_bytes(left)
        in_bytes(right)
    return canvas.svg


def timeline(files: pa.Table) -> str:
    """Which batches have deltas, merged deltas and snapshots, by partition."""
    highest = max(files.column("partition").to_pylist(), default=0)
    with drawing("Files by batch and partition", height=min(2.9 + highest / 100, 5)) as canvas:
        axes = canvas.axes()
        places: dict[str, set[tuple[int, int]]] = {}
        for row in files.select(["kind", "batch_id", "partition"]).to_pylist():
            places.setdefault(row["kind"], set()).add((row["batch_id"], row["partition"]))
        numbered = files.column("batch_id").to_pylist()
        room = _POINTS / (max(numbered) - min(numbered) + 1) if numbered else _POINTS
        # With many partitions there is no room for gaps.
        half = 0.3 if highest < _MANY else 0.5
        for kind, (color, most, part) in _KINDS.items():
            runs = list(_runs(sorted(places.get(kind, ()))))
            x = [value for batch, _, _ in runs for value in (batch, batch, np.nan)]
            y = [value for _, low, high in runs for value in (low - half, high + half, np.nan)]
            if runs:
                width = min(most, room * part)
                axes.plot(
                    x, y, color=color, linewidth=width, solid_capstyle="butt", label=f"{kind}s"
                )
        _name(axes, "partition", "batch")
        numbers(axes.xaxis)
        numbers(axes.yaxis)
        canvas.legend(axes)
    return canvas.svg


def durations(batches: list[dict[str, Any]], written: Mapping[int, int]) -> str:
    """Duration of batches, and until when the state was written in each.

    Args:
        batches: `batch_id`, `started_ms` and `duration_ms` of each.
        written: the time of the last delta of each, where it is known.
    """
    with drawing("Batch duration and commit of the state") as canvas:
        axes = canvas.axes()
        rows = [it for it in batches if it["duration_ms"] is not None][-_MOST_BARS:]
        axes.bar(
            [it["batch_id"] for it in rows],
            [it["duration_ms"] / _SECOND for it in rows],
            color=GREY,
            alpha=0.5,
            width=0.85,
            label="whole batch",
        )
        at = [
            (it["batch_id"], (written[it["batch_id"]] - it["started_ms"]) / _SECOND)
            for it in rows
            if it["batch_id"] in written
        ]
        axes.plot(
            [it[0] for it in at],
            [it[1] for it in at],
            "o",
            markersize=4,
            color=COLOURS[0],
            label="until the last state file was written",
        )
        _name(axes, "seconds", "batch")
        from_zero(axes, integer=False)
        numbers(axes.xaxis)
        canvas.legend(axes)
    return canvas.svg


def _name(axes: Any, title: str, below: str) -> None:  # noqa: ANN401 - Matplotlib's own
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(below)


def _runs(places: list[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Batch, first and last partition of each run of neighbours, given sorted places."""
    numbered = enumerate(places)
    for (batch, _), run in groupby(numbered, lambda it: (it[1][0], it[1][1] - it[0])):
        partitions = [partition for _, (_, partition) in run]
        yield batch, partitions[0], partitions[-1]
