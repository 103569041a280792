"""The pictures of a checkpoint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.report.figure import BLUE, GREY, ORANGE, drawing
from keyfold.report.growth import Size
from keyfold.units import size

_MOST_BARS = 400
_SECOND = 1000


def growth(found: list[Size]) -> str:
    """State size and rows over batches."""
    with drawing("State size and rows over batches") as canvas:
        left, right = canvas.axes(1, 2), canvas.axes(2, 2)
        known = [it for it in found if it.rows is not None and it.bytes is not None]
        x = [it.batch for it in known]
        left.fill_between(x, [it.bytes or 0 for it in known], color=BLUE, alpha=0.25)
        left.plot(x, [it.bytes for it in known], color=BLUE, marker="o", markersize=2.5)
        right.plot(x, [it.rows for it in known], color=ORANGE, marker="o", markersize=2.5)
        _name(left, "bytes of keys and values", "batch")
        _name(right, "rows", "batch")
        left.yaxis.set_major_formatter(lambda value, _: size(int(value)))
        right.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        for axes in (left, right):
            axes.set_ylim(bottom=0)
            _whole(axes)
    return canvas.svg


def spread(partitions: pa.Table, groups: pa.Table) -> str:
    """Bytes by partition, and by key group from the heaviest down."""
    with drawing("Spread over partitions and key groups") as canvas:
        left, right = canvas.axes(1, 2), canvas.axes(2, 2)
        found = partitions.group_by("partition").aggregate([("live_bytes", "sum")])
        found = found.sort_by("partition")
        heights = [it or 0 for it in found.column("live_bytes_sum").to_pylist()]
        left.bar(found.column("partition").to_pylist(), heights, color=BLUE, width=0.85)
        if heights:
            left.axhline(float(np.mean(heights)), color=ORANGE, linewidth=1.2)
        by_group = groups.group_by(["operator", "key_group"]).aggregate([("bytes", "sum")])
        weights = sorted((it or 0 for it in by_group.column("bytes_sum").to_pylist()), reverse=True)
        right.fill_between(range(len(weights)), weights, color=BLUE, alpha=0.6, step="mid")
        _name(left, "bytes by partition; line: mean", "partition")
        _name(right, "bytes in files by key group", "key groups, heaviest first")
        for axes in (left, right):
            axes.yaxis.set_major_formatter(lambda value, _: size(int(value)))
            axes.set_ylim(bottom=0)
            _whole(axes)
    return canvas.svg


def timeline(files: pa.Table) -> str:
    """Which batches have deltas and snapshots, by partition."""
    with drawing("Files by batch and partition") as canvas:
        axes = canvas.axes()
        looks = {
            "delta": ("|", GREY, 22.0),
            "snapshot": ("s", BLUE, 26.0),
            "reference": ("D", ORANGE, 26.0),
        }
        kinds = np.array(files.column("kind").to_pylist(), dtype=object)
        for kind, (marker, color, area) in looks.items():
            mask = kinds == kind
            if mask.any():
                axes.scatter(
                    np.array(files.column("batch_id").to_pylist())[mask],
                    np.array(files.column("partition").to_pylist())[mask],
                    marker=marker,
                    color=color,
                    s=area,
                    label=f"{kind}s",
                )
        _name(axes, "partition", "batch")
        _whole(axes, both=True)
        if len(files):
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return canvas.svg


def durations(batches: pa.Table, files: pa.Table) -> str:
    """How long batches took, and when in them the state's files were written."""
    with drawing("Batch duration and commit of the state") as canvas:
        axes = canvas.axes()
        written: dict[int, int] = {}
        for row in files.select(["batch_id", "kind", "modified_ms"]).to_pylist():
            if row["kind"] == "delta" and row["modified_ms"] is not None:
                number = row["batch_id"]
                written[number] = max(written.get(number, 0), row["modified_ms"])
        rows = [it for it in batches.to_pylist() if it["duration_ms"] is not None][-_MOST_BARS:]
        x = [it["batch_id"] for it in rows]
        axes.bar(x, [it["duration_ms"] / _SECOND for it in rows], color=GREY, alpha=0.5, width=0.9)
        at = [
            (it["batch_id"], (written[it["batch_id"]] - it["started_ms"]) / _SECOND)
            for it in rows
            if it["batch_id"] in written
        ]
        axes.plot([it[0] for it in at], [it[1] for it in at], ".", color=BLUE)
        _name(axes, "seconds; dots: last state file written", "batch")
        axes.set_ylim(bottom=0)
        _whole(axes)
    return canvas.svg


def _name(axes: Any, title: str, below: str) -> None:  # noqa: ANN401 - Matplotlib's own
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(below)


def _whole(axes: Any, *, both: bool = False) -> None:  # noqa: ANN401
    """Ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - an optional package

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if both:
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
