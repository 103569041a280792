"""Differences and histories of any sequence of batches, against plain dictionaries."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import keyfold
from keyfold.spark_log.batch import find_batch
from keyfold.state.selection import ALL, Selection
from keyfold.storage.storage import Storage
from keyfold.table.changes import changed
from keyfold.table.state_table import StateTable
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter, hash_of

State = dict[int, list[int]]
KEYS = st.integers(0, 8)
VALUES = st.lists(st.integers(0, 2), min_size=1, max_size=3)
BATCHES = st.lists(
    st.tuples(
        st.dictionaries(
            KEYS, st.one_of(VALUES, st.none(), st.tuples(st.just("append"), VALUES)), max_size=5
        ),
        st.booleans(),
        st.booleans(),
    ),
    min_size=2,
    max_size=6,
)


@settings(max_examples=30, deadline=None)
@given(BATCHES, st.booleans())
def test_differences_and_histories(batches: Any, sparse: bool) -> None:  # noqa: FBT001
    with tempfile.TemporaryDirectory() as folder:
        writer = StateWriter(FakeCheckpoint(Path(folder) / "cp"), multi=True, sparse=sparse)
        states: list[State] = []
        for changes, snapshots, merges in batches:
            writer.batch(changes, snapshots=snapshots)
            for partition, lineage in writer.lineage.items():
                if merges and len(lineage) > 1:
                    writer.merge(lineage[len(lineage) // 2]["version"], partition)
            states.append({key: list(values) for key, values in writer.rows.items()})
        table = keyfold.open_checkpoint(writer.fake.root)["agg"].only
        last = len(states) - 1
        for before, after in ((0, last), (last - 1, last), (last, 0), (last, last)):
            assert found_changes(table, before, after) == changes_of(states[before], states[after])
        for key in {key for state in states for key in state}:
            assert found_history(table, key) == history_of(states, key)


def changes_of(before: State, after: State) -> dict[int, str]:
    found = {}
    for key in before.keys() | after.keys():
        if before.get(key) != after.get(key):
            found[key] = (
                "inserted" if key not in before else "updated" if key in after else "deleted"
            )
    return found


def found_changes(table: StateTable, before: int, after: int) -> dict[int, str]:
    return {row["key"]["id"]: row["change"] for row in table.diff(before, after).to_pylist()}


def history_of(states: list[State], key: int) -> list[tuple[int, str, list[int]]]:
    found: list[tuple[int, str, list[int]]] = []
    known: list[int] | None = None
    for batch, state in enumerate(states):
        now = state.get(key, [])
        if batch == 0 and now:
            found.append((batch, "present", now))
        elif batch and now != known:
            change = "deleted" if not now else "updated" if known else "inserted"
            found.append((batch, change, now))
        known = now
    return found


def found_history(table: StateTable, key: int) -> list[tuple[int, str, list[int]]]:
    found: dict[int, tuple[int, str, list[int]]] = {}
    for row in table.history({"id": key}).to_pylist():
        entry = found.setdefault(row["batch_id"], (row["batch_id"], row["change"], []))
        if row["value"] is not None:
            entry[2].append(row["value"]["total"])
    return list(found.values())


def test_before_and_after_are_side_by_side(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake)
    writer.batch({1: 10, 2: 20})
    writer.batch({1: 11, 2: None, 3: 30})
    rows = keyfold.open_checkpoint(fake.root)["agg"].diff(0, 1).to_pylist()
    assert sorted(
        (row["change"], row["key"]["id"], row["before_value"], row["after_value"]) for row in rows
    ) == [
        ("deleted", 2, {"total": 20}, None),
        ("inserted", 3, None, {"total": 30}),
        ("updated", 1, {"total": 10}, {"total": 11}),
    ]
    empty = keyfold.open_checkpoint(fake.root)["agg"].diff(1, 1)
    assert empty.num_rows == 0
    assert empty.schema.names == ["change", "key", "before_value", "after_value", "partition_id"]


def test_a_row_that_did_not_change_is_in_no_difference_whatever_files_have_it(
    fake: FakeCheckpoint,
) -> None:
    """The block of a snapshot has both rows, that of the delta before only the first."""
    writer = StateWriter(fake, partitions=1)
    writer.batch({2: 0})
    writer.batch({12: 1}, snapshots=True)
    table = keyfold.open_checkpoint(fake.root)["agg"].only
    assert found_changes(table, 0, 1) == {12: "inserted"}


def test_changes_are_looked_for_in_deltas_and_not_in_merged_ones(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake, partitions=1)
    for number in range(6):
        writer.batch({number: number, 90: number}, snapshots=number == 0)
    writer.merge(1, 0)
    writer.batch({6: 6})
    source = keyfold.open_checkpoint(fake.root)["agg"].only.source
    before, after = (find_batch(source.storage, it) for it in (3, 6))

    def found() -> Selection:
        return changed(source.once(), before, after, 0)

    sieve = found().sieve
    assert sieve is not None
    keys = [key for key in (*range(8), 90) if sieve.passes(np.array([hash_of(key)], np.int32))[0]]
    # The merged delta of version 6 has what batches 1 to 3 changed, too.
    assert keys == [4, 5, 6, 90]
    # Without one of the deltas, all rows are compared.
    writer.path(5).unlink()
    assert found() is ALL


def test_a_history_reads_each_file_once(fake: FakeCheckpoint, monkeypatch: Any) -> None:
    writer = StateWriter(fake, partitions=1)
    for batch in range(12):
        writer.batch({batch: 0, 5: batch})
    opened: list[str] = []
    open_file = Storage.open
    monkeypatch.setattr(
        Storage, "open", lambda it, path, *size: opened.append(path) or open_file(it, path, *size)
    )
    table = keyfold.open_checkpoint(fake.root)["agg"].only
    assert table.history({"id": 5}).num_rows == 12
    deltas = [path for path in opened if path.endswith(".delta")]
    # Also as the head of its batch.
    assert max(deltas.count(path) for path in deltas) <= 3
