"""Versions that merged deltas are a part of: which files are read, and what they give."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keyfold
from keyfold.errors import FileCorruptError, FileMissingError
from keyfold.format.names import StoreLocation, Version
from keyfold.state.chain import Chain, chain_of
from keyfold.state.store_files import StoreFiles, list_store
from keyfold.state.version import load
from keyfold.storage.storage import Storage
from kit.fake_checkpoint import FakeCheckpoint
from kit.golden.spec import link
from kit.state_writer import StateWriter

KEYS = st.integers(0, 12)
VALUES = st.lists(st.integers(0, 9), min_size=1, max_size=3)
CHANGES = st.dictionaries(
    KEYS, st.one_of(VALUES, st.none(), st.tuples(st.just("append"), VALUES)), max_size=6
)
# What follows a batch in each partition: nothing, or a merge with one of the possible bases.
MERGES = st.one_of(st.none(), st.tuples(st.integers(0, 20), st.booleans()))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(CHANGES, st.booleans(), MERGES, MERGES), min_size=2, max_size=9),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_every_version_has_its_rows_whatever_is_merged_or_lost(
    batches: list[Any],
    sparse: bool,  # noqa: FBT001
    random: Any,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        writer = StateWriter(FakeCheckpoint(Path(folder) / "cp"), multi=True, sparse=sparse)
        expected = []
        for changes, snapshots, *merges in batches:
            writer.batch(changes, snapshots=snapshots)
            expected.append({key: list(values) for key, values in writer.rows.items()})
            for partition, merge in enumerate(merges):
                bases = [it["version"] for it in writer.lineage[partition][1:]]
                if merge is not None and bases:
                    number, named = merge
                    writer.merge(bases[number % len(bases)], partition, named=named)
        opened = keyfold.open_checkpoint(writer.fake.root)
        assert opened.fsck(deep=True).findings == ()
        assert [read(writer.fake, number) for number in range(len(expected))] == expected
        last = len(expected) - 1
        for key in range(13):
            found = opened[0].get({"id": key}, last).to_pylist()
            assert [it["value"]["total"] for it in found] == expected[last].get(key, [])
        changed = opened["agg"].diff(0, last).to_pylist()
        assert {it["key"]["id"] for it in changed} == {
            key
            for key in expected[0].keys() | expected[last].keys()
            if expected[0].get(key) != expected[last].get(key)
        }
        # Deltas give the same, whichever other files are damaged or missing.
        for path in sorted(writer.fake.root.glob("state/0/*/*.*")):
            if not path.name.endswith(".delta"):
                [damage, type(path).unlink, lambda _: None][random.randrange(3)](path)
        assert [read(writer.fake, number) for number in range(len(expected))] == expected


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    # In the trailer, whatever the size of the file.
    content[-10] ^= 1
    path.write_bytes(content)


def read(fake: FakeCheckpoint, batch: int) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for row in keyfold.open_checkpoint(fake.root)[0].scan(batch=batch).to_pylist():
        found.setdefault(row["key"]["id"], []).append(row["value"]["total"])
    return found


@pytest.fixture
def writer(fake: FakeCheckpoint) -> StateWriter:
    """Of version 9, the lineage is 9, 8, 7.4 merged, 4.2 merged, 2 snapshot."""
    found = StateWriter(fake, partitions=1)
    for number in range(1, 10):
        found.batch({number: number, 0: number}, snapshots=number == 2)
        if number in {4, 7}:
            found.merge({4: 2, 7: 4}[number], 0)
    return found


def listed(fake: FakeCheckpoint) -> StoreFiles:
    return list_store(Storage(fake.root), StoreLocation(0, 0, "default"), 100)


def chain(writer: StateWriter, version: int, *without: Path) -> Chain:
    paths = {str(it.relative_to(writer.fake.root)) for it in without}
    return chain_of(listed(writer.fake), Version(version, writer.unique(0, version)), paths)


def names(found: Chain) -> list[str]:
    return [short(step.path.rsplit("/", 1)[-1]) for step in found.steps]


def short(name: str) -> str:
    """A name without its id."""
    return re.sub("_[^.]+", "", name)


def test_a_merged_delta_takes_the_place_of_deltas(writer: StateWriter) -> None:
    found = chain(writer, 9)
    assert names(found) == ["2.snapshot", "4.2.merged", "7.4.merged", "8.delta", "9.delta"]
    assert found.base == 7
    # A lineage from before the merge does not name it: the listing does.
    assert names(chain(writer, 7)) == ["2.snapshot", "4.2.merged", "7.4.merged"]
    assert names(chain(writer, 6)) == ["2.snapshot", "4.2.merged", "5.delta", "6.delta"]
    assert (chain(writer, 3).base, chain(writer, 1).base) == (2, 1)


def test_of_several_merged_deltas_the_one_with_the_smallest_base_is_taken(
    writer: StateWriter,
) -> None:
    writer.lineage[0] = [link(it, "delta", f"id-{it}-0") for it in range(9, 2, -1)]
    writer.lineage[0].append(link(2, "snapshot", "id-2-0"))
    for base in (8, 3, 5):
        writer.merge(base, 0, named=False)
    writer.batch({10: 10})
    best = ["2.snapshot", "3.delta", "9.3.merged", "10.delta"]
    assert names(chain(writer, 10)) == best
    assert read(writer.fake, -1) == {key: list(it) for key, it in writer.rows.items()}
    lost = writer.path(9, "3.merged")
    next_best = ["2.snapshot", "4.2.merged", "5.delta", "9.5.merged", "10.delta"]
    assert names(chain(writer, 10, lost)) == next_best
    lost.unlink()
    assert names(chain(writer, 10)) == next_best


def test_a_merged_delta_whose_base_is_not_in_the_lineage_is_not_taken(writer: StateWriter) -> None:
    # Of an attempt at version 9 that built on another version 8, which has not written version 6.
    content = writer.path(7, "4.merged").read_bytes()
    writer.path(9, "6.merged").write_bytes(content)
    assert names(chain(writer, 9))[-3:] == ["7.4.merged", "8.delta", "9.delta"]
    # From here on, version 6 is in it.
    lost = writer.path(7, "4.merged")
    assert names(chain(writer, 9, lost))[-3:] == ["7.delta", "8.delta", "9.delta"]


@pytest.mark.parametrize("lose", [damage, Path.unlink])
def test_a_merged_delta_that_is_lost_gives_way_to_deltas(writer: StateWriter, lose: Any) -> None:
    lose(writer.path(7, "4.merged"))
    expected = {key: list(it) for key, it in writer.rows.items()}
    assert read(writer.fake, -1) == expected
    # Other merged deltas stay in use.
    without = chain(writer, 9, writer.path(7, "4.merged"))
    assert names(without)[:3] == ["2.snapshot", "4.2.merged", "5.delta"]
    lose(writer.path(2, "snapshot"))
    assert read(writer.fake, -1) == expected
    without = chain(writer, 9, writer.path(7, "4.merged"), writer.path(2, "snapshot"))
    assert names(without)[:3] == ["1.delta", "2.delta", "4.2.merged"]


def test_a_delta_that_is_lost_gives_way_to_another_merged_delta(writer: StateWriter) -> None:
    writer.merge(7, 0, named=False)
    damage(writer.path(8))
    assert names(chain(writer, 9))[-2:] == ["7.4.merged", "9.7.merged"]
    # What leads furthest leads to a damaged file, and what replaces less does not.
    writer.merge(8, 0, named=False)
    writer.path(9, "7.merged").rename(writer.path(9, "x"))
    with pytest.raises(FileCorruptError):
        load(listed(writer.fake), Version(9, "id-9-0"))
    writer.path(9, "x").rename(writer.path(9, "7.merged"))
    assert read(writer.fake, -1) == {key: list(it) for key, it in writer.rows.items()}


def test_what_replaces_less_is_taken_if_the_rest_is_lost(fake: FakeCheckpoint) -> None:
    """Both 6.2 and 6.4 are merged deltas: below 2 there is nothing, and 4 has a snapshot."""
    writer = StateWriter(fake, partitions=1)
    for number in range(1, 7):
        writer.batch({number: number})
    for base in (2, 4):
        writer.merge(base, 0, named=False)
    rows = [writer._put(key) for key in range(1, 5)]
    lineage = [link(it, "delta", f"id-{it}-0") for it in (3, 2, 1)]
    own = {key: writer.rows[key] for key in range(1, 5)}
    snapshot = writer.file(4, "snapshot", 0, rows, lineage=lineage, rows=own)
    writer.path(4, "snapshot").write_bytes(snapshot)
    assert names(chain(writer, 6)) == ["1.delta", "2.delta", "6.2.merged"]
    damage(writer.path(1))
    assert read(fake, -1) == {number: [number] for number in range(1, 7)}
    assert names(chain(writer, 6, writer.path(1))) == ["4.snapshot", "6.4.merged"]


def test_after_retention_only_what_the_oldest_version_builds_on_is_left(
    writer: StateWriter,
) -> None:
    writer.retain(7)
    assert sorted(short(it.name) for it in writer.path(1).parent.glob("[0-9]*")) == [
        *("2.snapshot", "4.2.merged", "7.4.merged", "7.delta", "8.delta", "9.delta")
    ]
    expected = {key: list(it) for key, it in writer.rows.items()}
    assert read(writer.fake, -1) == expected
    del expected[9]
    expected[0] = [8]
    assert read(writer.fake, -2) == expected


def loadable(writer: StateWriter, version: int) -> list[int]:
    files = listed(writer.fake)
    found = files.loadable(version, files.head(Version(version, writer.unique(0, version))))
    return [number for part in found for number in part]


def test_only_versions_with_a_head_that_retention_keeps_are_loadable(writer: StateWriter) -> None:
    assert loadable(writer, 9) == list(range(1, 10))
    # As while retention deletes, the oldest first.
    for version in (1, 3):
        writer.path(version).unlink()
    assert loadable(writer, 9) == [2, 4, 5, 6, 7, 8, 9]
    writer.retain(7)
    assert loadable(writer, 9) == [7, 8, 9]
    operator = keyfold.open_checkpoint(writer.fake.root).describe().operators[0]
    assert (operator.oldest_loadable_version, operator.newest_loadable_version) == (7, 9)
    writer.path(4, "2.merged").unlink()
    assert loadable(writer, 9) == []


def test_a_merged_delta_is_no_head_of_its_version(writer: StateWriter) -> None:
    writer.path(7).unlink()
    assert loadable(writer, 9) == [1, 2, 3, 4, 5, 6, 8, 9]


def test_versions_that_a_lineage_leaves_open_are_not_taken_for_unchanged_ones(
    writer: StateWriter,
) -> None:
    damage(writer.path(7, "4.merged"))
    for version in (5, 6):
        writer.path(version).unlink()
    # Contents are not checked: version 7 counts.
    assert loadable(writer, 9) == [1, 2, 3, 4, 7, 8, 9]


def test_unchanged_versions_below_a_merged_delta_are_loadable(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake, partitions=1, sparse=True)
    writer.batch({1: 1}, snapshots=True)
    writer.batch({})
    for number in (3, 4):
        writer.batch({number: number})
    writer.merge(1, 0)
    writer.batch({})
    writer.batch({6: 6})
    assert loadable(writer, 6) == [1, 2, 3, 4, 5, 6]
    writer.path(3).unlink()
    assert loadable(writer, 6) == [1, 2, 4, 5, 6]


def test_a_merged_delta_that_is_needed_and_gone_is_named(writer: StateWriter) -> None:
    writer.retain(7)
    path = writer.path(7, "4.merged")
    path.unlink()
    with pytest.raises(FileMissingError, match=path.name):
        read(writer.fake, -1)


def test_a_damaged_merged_delta_that_nothing_replaces_is_named(writer: StateWriter) -> None:
    writer.retain(7)
    damage(writer.path(4, "2.merged"))
    with pytest.raises(FileCorruptError, match=writer.path(4, "2.merged").name):
        read(writer.fake, -1)


def test_merged_deltas_of_two_executors_of_which_retention_has_kept_what_one_builds_on(
    fake: FakeCheckpoint,
) -> None:
    writer = StateWriter(fake, partitions=1)
    for number in range(1, 9):
        writer.batch({number: number, 0: number}, snapshots=number == 2)
        # One executor merges 4.2 and 8.4, and writes the lineages; the other merges 5.2 and 8.5.
        if number == 4:
            writer.merge(2, 0)
        for base in {5: [2], 8: [4, 5]}.get(number, []):
            writer.merge(base, 0, named=False)
    assert names(chain(writer, 8)) == ["2.snapshot", "4.2.merged", "8.4.merged"]
    # By the lineage of the other: it keeps the merged deltas of versions 8, 5 and 2, no others.
    for path in [*map(writer.path, range(1, 8)), writer.path(4, "2.merged")]:
        path.unlink()
    for batch in range(7):
        for log in ("commits", "offsets"):
            (fake.root / log / str(batch)).unlink()
    assert names(chain(writer, 8)) == ["2.snapshot", "5.2.merged", "8.5.merged"]
    assert read(fake, -1) == {number: [number or 8] for number in range(9)}
    assert keyfold.open_checkpoint(fake.root).fsck(deep=True).findings == ()


def test_a_merged_delta_of_a_base_that_the_lineage_lacks_is_taken_if_nothing_else_is_left(
    fake: FakeCheckpoint,
) -> None:
    writer = StateWriter(fake, partitions=1)
    for number in range(1, 8):
        writer.batch({number: number, 0: number}, snapshots=number == 2)
        finer = writer.lineage[0]
        if number == 4:
            writer.merge(2, 0, named=False)
        if number == 5:
            # This executor's later lineages say no more of versions 3 and 4.
            writer.merge(2, 0)
        if number == 6:
            # Another one has loaded the deltas of these, and merges after 4.
            before = [link(it, "delta", f"id-{it}-0") for it in (6, 5, 4, 3)]
            writer.lineage[0] = [*before, link(2, "snapshot", "id-2-0")]
            writer.merge(4, 0, named=False)
            writer.lineage[0] = finer
    assert names(chain(writer, 7)) == ["2.snapshot", "5.2.merged", "6.delta", "7.delta"]
    for path in [*map(writer.path, range(1, 6)), writer.path(5, "2.merged")]:
        path.unlink()
    assert names(chain(writer, 7)) == ["2.snapshot", "4.2.merged", "6.4.merged", "7.delta"]
    assert read(fake, -1) == {number: [number or 7] for number in range(8)}


def test_that_a_file_is_damaged_says_more_than_that_another_is_missing(
    writer: StateWriter,
) -> None:
    writer.path(7, "4.merged").unlink()
    damage(writer.path(7))
    with pytest.raises(FileCorruptError, match=writer.path(7).name):
        read(writer.fake, -1)


def test_a_start_that_is_lost_is_not_looked_for_on_every_way(fake: FakeCheckpoint) -> None:
    """There are as many ways as Fibonacci's number of versions."""
    writer = StateWriter(fake, partitions=1)
    for number in range(1, 60):
        writer.batch({0: number})
        if number > 2:
            writer.merge(number - 2, 0, named=False)
    writer.path(1).unlink()
    with pytest.raises(FileMissingError):
        chain(writer, 59)


def test_versions_are_loadable_if_deltas_replace_a_missing_merged_delta(
    writer: StateWriter,
) -> None:
    writer.path(7, "4.merged").unlink()
    assert loadable(writer, 9) == list(range(1, 10))
