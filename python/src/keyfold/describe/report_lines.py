"""The text that both reports of a description share."""

from __future__ import annotations

from itertools import compress

from keyfold.describe.values import CheckpointValues, OperatorDescription, StoreDescription
from keyfold.schema.schema_file import DEFAULT_FAMILY
from keyfold.subtasks.declared import SUBTASK_OF
from keyfold.text.units import count, moment, plural, size, span

# Until each partition has loaded its rows.
_NOT_COUNTED = "rows not known before the next batch (a rescale reads none)"
_COLUMNS = (
    "store", "rows", "per partition", "live", "on disk", "deltas", "merged", "snaps", "refs",
)  # fmt: skip


def summary(it: CheckpointValues) -> list[tuple[str, str]]:
    """Label and text of each line above the operators."""
    rows = _NOT_COUNTED if it.rows is None else plural(it.rows, "row")
    live = "" if it.live_bytes is None else f"{size(it.live_bytes)} live, "
    state = f"{rows}, {live}{size(it.disk_bytes)} on disk"
    return [
        ("checkpoint", it.path),
        ("query", it.query_id or "not known: see `keyfold fsck`"),
        ("provider", it.provider or "not known yet"),
        ("last batch", _batch(it.last_batch, it.last_batch_ms, "none committed yet")),
        ("oldest batch", _batch(it.oldest_batch, it.oldest_batch_ms, "none in the log")),
        *([("migrated", str(it.earlier_batches))] if it.earlier_batches else []),
        ("state", state + (" (incomplete, see below)" if it.problems else "")),
    ]


def heading(it: OperatorDescription) -> str:
    """One line about an operator."""
    parts = [f"Operator {it.id}, {it.name}: {plural(it.partitions, 'partition')}"]
    if it.key_groups is not None:
        parts.append(plural(it.key_groups, "key group"))
    parts.append(_versions(it))
    return ", ".join(parts)


def notes(it: OperatorDescription) -> list[str]:
    """Lines about what is not so with every operator."""
    return [note for note in (_subtasks(it), _strays(it)) if note is not None]


def _subtasks(it: OperatorDescription) -> str | None:
    """A line about the state of an operator's subtasks; None if it is none of that kind."""
    families = {family.name: family for store in it.stores for family in store.families}
    own = next((name for name in families if name.startswith(SUBTASK_OF)), None)
    if own is None:
        return None
    states = (
        f"{name} ({plural(family.values, 'value')})"
        for name, family in sorted(families.items())
        if name not in {own, DEFAULT_FAMILY} and not family.internal
    )
    name = own.removeprefix(SUBTASK_OF)
    return f"{name}, {plural(families[own].rows, 'subtask')}: {', '.join(states)}"


def _strays(it: OperatorDescription) -> str | None:
    """A line about families whose rows do not follow their hash; None if there are none."""
    names = {family.name for store in it.stores for family in store.families if family.strays}
    if not names:
        return None
    return (
        f"rows are where Spark put them, not where their hash says, in: {', '.join(sorted(names))} "
        "(cannot be rescaled)"
    )


def table(it: OperatorDescription) -> list[tuple[str, ...]]:
    """A heading and a row for each store; merged deltas and references only if there are any."""
    absent = {
        "merged": not any(store.merged_deltas for store in it.stores),
        "refs": not any(store.references for store in it.stores),
    }
    rows = [_COLUMNS, *(_cells(store) for store in it.stores)]
    shown = [not absent.get(name, False) for name in _COLUMNS]
    return [tuple(compress(row, shown)) for row in rows]


def _cells(it: StoreDescription) -> tuple[str, ...]:
    return (
        it.name,
        count(it.rows),
        span(it.min_partition_rows, it.max_partition_rows),
        size(it.live_bytes),
        size(it.disk_bytes),
        count(it.deltas),
        count(it.merged_deltas),
        count(it.snapshots),
        count(it.references),
    )


def _versions(it: OperatorDescription) -> str:
    oldest, newest = it.oldest_loadable_version, it.newest_loadable_version
    if it.latest_version is None:
        return "nothing committed yet"
    if oldest is None or newest is None:
        return f"version {it.latest_version} and all before it cannot be loaded"
    if newest == it.latest_version:
        return f"version {newest}" if oldest == newest else f"versions {oldest} to {newest}"
    return f"version {it.latest_version} cannot be loaded, {oldest} to {newest} can"


def _batch(number: int | None, started_ms: int | None, absent: str) -> str:
    return absent if number is None else f"{number}, started {moment(started_ms)}"
