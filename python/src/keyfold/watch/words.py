"""The texts and tables that terminal, pipe and notebook share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from keyfold.errors import KeyfoldError
from keyfold.text.units import count, duration, moment, plural, size
from keyfold.watch.batch import WatchedBatch, first
from keyfold.watch.look import Look

# A heading, and rows below it.
Rows: TypeAlias = list[tuple[str, ...]]

_MINUTE_MS = 60_000
_UNKNOWN = "-"


def headline(look: Look, now_ms: int) -> str:
    """Which batch is the last one, and how old it is."""
    begun = ""
    if look.begun is not None:
        begun = f"batch {look.begun} began {_ago(look.begun_ms, now_ms)}"
    last = look.last
    if last is None:
        there = look.query_id is not None or begun
        waiting = "no batch is committed yet" if there else "there is no checkpoint yet"
        return f"{waiting}: {begun or 'waiting for the query'}"
    if last.committed_ms is not None:
        said = f"batch {last.batch_id} was committed {_ago(last.committed_ms, now_ms)}"
    else:
        said = f"batch {last.batch_id} began {_ago(last.started_ms, now_ms)} and is committed"
    return f"{said}; {begun}" if begun else said


def pace(look: Look) -> str:
    """How fast batches follow each other, and what they change."""
    parts = []
    if interval := look.mean("interval_ms"):
        parts.append(f"{_MINUTE_MS / interval:.1f} batches a minute, {duration(interval)} apart")
    changes, written = look.mean("changes"), look.mean("written_bytes")
    if changes is not None and written is not None:
        parts.append(f"{plural(round(changes), 'change')} and {size(round(written))} a batch")
    return "; ".join(parts)


def failed(error: KeyfoldError, interval: float) -> str:
    """Why the last look failed."""
    return f"{error} Trying again every {interval:g} s."


def batch_rows(look: Look, most: int) -> Rows:
    """The last batches, the newest first."""
    rows: Rows = [("batch", "began (UTC)", "took", "commit", "changes", "written", "rows", "state")]
    return rows + [_batch(it) for it in reversed(look.batches[-most:])]


def operator_rows(look: Look) -> Rows:
    """The operators."""
    rows: Rows = [("operator", "partitions", "rows", "state", "on disk", "snapshot age")]
    return rows + [
        (
            f"{it.id} {it.name}",
            count(it.partitions),
            _known(count, it.rows),
            _known(size, it.live_bytes),
            size(it.disk_bytes),
            _known(count, it.snapshot_age),
        )
        for it in look.operators
    ]


def partition_rows(look: Look, most: int) -> Rows:
    """The partitions with the most bytes, and how they compare to the mean of their operator."""
    sizes: dict[int, list[int]] = {}
    for it in look.partitions:
        sizes.setdefault(it.operator, []).append(it.live_bytes)
    rows: Rows = [("partition", "rows", "state", "of mean")]
    for it in look.partitions[:most]:
        mean = sum(sizes[it.operator]) / len(sizes[it.operator])
        share = f"{it.live_bytes / mean:.2f} x" if mean else _UNKNOWN
        rows.append((f"{it.operator}/{it.partition}", count(it.rows), size(it.live_bytes), share))
    return rows


def group_rows(look: Look, most: int) -> Rows:
    """The key groups of which most bytes were written, and their shares of all."""
    written = int(look.groups[-1].sum())
    rows: Rows = [("key group", "changes", "bytes", "share")]
    return rows + [
        (
            f"{it.operator}/{it.partition}/{it.key_group}",
            count(it.changes),
            size(it.bytes),
            f"{100 * it.bytes / written:.1f} %" if written else _UNKNOWN,
        )
        for it in first(look.groups, most)
    ]


def hot_title(look: Look) -> str:
    """What `group_rows` are."""
    return f"hottest key groups, {recent(look)}"


def recent(look: Look) -> str:
    """The batches of which key groups are hot."""
    return f"last {look.hot_batches} batches" if look.hot_batches > 1 else "last batch"


def line(it: WatchedBatch) -> str:
    """A batch in one line."""
    took, commit = (_known(duration, ms, "unknown") for ms in (it.duration_ms, it.commit_ms))
    return (
        f"batch {it.batch_id}, began {moment(it.started_ms)}, took {took}, commit {commit}, "
        f"changes {count(it.changes)}, written {size(it.written_bytes)}, rows {count(it.rows)}, "
        f"state {size(it.live_bytes)}"
    )


def _batch(it: WatchedBatch) -> tuple[str, ...]:
    return (
        str(it.batch_id),
        _UNKNOWN if it.started_ms is None else moment(it.started_ms)[11:19],
        _known(duration, it.duration_ms),
        _known(duration, it.commit_ms),
        _known(count, it.changes),
        _known(size, it.written_bytes),
        _known(count, it.rows),
        _known(size, it.live_bytes),
    )


def _known(show: Callable[[int], str], number: int | None, unknown: str = _UNKNOWN) -> str:
    return unknown if number is None else show(number)


def _ago(ms: int | None, now_ms: int) -> str:
    """How long ago; the clock of what wrote the time may be ahead of this machine's."""
    return "at an unknown time" if ms is None else f"{duration(max(now_ms - ms, 0))} ago"
