"""Every version of any sequence of batches is what a plain dictionary says."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keyfold
from keyfold.errors import FileCorruptError, KeyGroupsMismatchError
from keyfold.format.names import StoreLocation, Version
from keyfold.state.store_files import StoreFiles, list_store
from keyfold.state.version import load
from keyfold.storage.storage import Storage
from kit.fake_checkpoint import FakeCheckpoint
from kit.golden.spec import family
from kit.state_writer import StateWriter, hash_of
from kit.taken_apart import taken_apart

KEYS = st.integers(0, 12)
VALUES = st.lists(st.integers(0, 9), min_size=1, max_size=3)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.dictionaries(KEYS, st.one_of(st.integers(0, 9), st.none())), st.booleans()),
        min_size=1,
        max_size=8,
    ),
    st.booleans(),
    st.booleans(),
)
def test_single_values(batches: list[Any], ids: bool, sparse: bool) -> None:  # noqa: FBT001
    check(batches, ids=ids, multi=False, sparse=sparse)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.dictionaries(
                KEYS,
                st.one_of(VALUES, st.none(), st.tuples(st.just("append"), VALUES)),
            ),
            st.booleans(),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_several_values_a_key(batches: list[Any]) -> None:
    check(batches, ids=True, multi=True, sparse=True)


def check(batches: list[Any], *, ids: bool, multi: bool, sparse: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        fake = FakeCheckpoint(Path(folder) / "cp")
        writer = StateWriter(fake, ids=ids, multi=multi, sparse=sparse)
        expected = []
        for changes, snapshots in batches:
            writer.batch(changes, snapshots=snapshots)
            expected.append({key: list(values) for key, values in writer.rows.items()})
        table = keyfold.open_checkpoint(writer.fake.root)[0]
        for number, rows in enumerate(expected):
            assert read(table, number) == rows
            assert table.count(number) == sum(map(len, rows.values()))
        checked = keyfold.open_checkpoint(writer.fake.root).fsck(deep=True)
        assert checked.findings == ()


def read(table: Any, batch: int) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for row in table.scan(batch=batch).to_pylist():
        assert row["partition_id"] == hash_of(row["key"]["id"]) % 2
        found.setdefault(row["key"]["id"], []).append(row["value"]["total"])
    return found


def test_keys_whose_hashes_are_taken_for_equal_stay_apart(
    fake: FakeCheckpoint, monkeypatch: Any
) -> None:
    import numpy as np  # noqa: PLC0415

    from keyfold.state import entries  # noqa: PLC0415

    monkeypatch.setattr(entries, "_shared", lambda it: np.ones(len(it), dtype=np.bool_))
    writer = StateWriter(fake)
    writer.batch({key: key for key in range(30)})
    writer.batch({3: 33, 4: None, 40: 40})
    expected = {key: [key] for key in range(30)} | {3: [33], 40: [40]}
    del expected[4]
    assert read(keyfold.open_checkpoint(fake.root)[0], -1) == expected


def test_snapshot_that_is_damaged_gives_way_to_deltas(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake)
    writer.batch({1: 1, 2: 2, 3: 3})
    writer.batch({4: 4}, snapshots=True)
    writer.batch({1: 11})
    for partition in (0, 1):
        path = writer.path(2, "snapshot", partition)
        content = bytearray(path.read_bytes())
        content[40] ^= 1
        path.write_bytes(content)
    assert read(keyfold.open_checkpoint(fake.root)[0], -1) == {1: [11], 2: [2], 3: [3], 4: [4]}


def test_family_that_is_dropped_begins_anew(fake: FakeCheckpoint) -> None:
    from kit.golden.encoder import encode  # noqa: PLC0415
    from kit.golden.spec import bigint, block, group, put, spec  # noqa: PLC0415

    writer = StateWriter(fake, partitions=1)
    writer.batch({key: key for key in range(10)})
    hashed = hash_of(77)
    content = spec(
        "",
        "delta",
        {"version": 2, "id": "id-2-0", "partition": 0, "partitions": 1, "keyGroups": 12},
        lineage=writer.lineage[0],
        dropped=["default"],
        families=[family(0, "default", 1, 32)],
        blocks=[block([put(hashed, bigint(77), bigint(7))])],
        groups=[group(0, hashed % 12, 0, 0, 1, 32)],
    )
    writer.path(2).write_bytes(encode(content))
    fake.start(1, partitions=1)
    fake.commit(1, {0: [["id-2-0"]]})
    found = keyfold.open_checkpoint(fake.root)[0].scan().to_pylist()
    assert [row["key"]["id"] for row in found] == [77]


def test_a_family_that_is_kept_in_another_way_was_dropped_or_is_damage(
    fake: FakeCheckpoint,
) -> None:
    writer = StateWriter(fake)
    writer.batch({1: 1, 2: 2})
    writer.batch({3: 3})
    path = writer.path(2)
    content = path.read_bytes()
    parts = taken_apart(content)
    for old, new in ((b"unsaferow", b"avro"), (b"\x03\x00row", b"\x0f\x00timestampPrefix")):
        sections = [
            (code, flags, _with(it, old, new) if code == 3 else it)
            for code, flags, it in parts.sections
        ]
        path.write_bytes(replace(parts, sections=sections).together())
        with pytest.raises(FileCorruptError, match="has other encodings than in the files before"):
            load(files(fake, 2), Version(2, writer.unique(0, 2)))


def files(fake: FakeCheckpoint, last: int) -> StoreFiles:
    return list_store(Storage(fake.root), StoreLocation(0, 0, "default"), last)


def _with(payload: bytes, old: bytes, new: bytes) -> bytes:
    """A payload with a text, or what has its length ahead, in the place of another."""
    if old == b"unsaferow":
        old, new = b"\x09\x00" + old, b"\x04\x00" + new
    assert old in payload
    return payload.replace(old, new, 1)


def test_files_of_a_version_have_one_number_of_key_groups(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake)
    writer.batch({1: 1, 2: 2})
    writer.groups = 24
    writer.batch({3: 3, 4: 4})
    with pytest.raises(KeyGroupsMismatchError, match="has 12 key groups, the version has 24"):
        load(files(fake, 2), Version(2, writer.unique(0, 2)))


def test_a_key_is_looked_for_in_the_group_that_it_has_in_its_partition(
    fake: FakeCheckpoint, tmp_path: Path
) -> None:
    rows = {key: key for key in range(50)}
    writer = StateWriter(fake, groups=24)
    other = StateWriter(FakeCheckpoint(tmp_path / "other"), groups=12)
    for it in (writer, other):
        it.batch(rows)
    writer.path(1, partition=1).write_bytes(other.path(1, partition=1).read_bytes())
    table = keyfold.open_checkpoint(fake.root)[0]
    totals = {key: table.get({"id": key}).to_pylist()[0]["value"]["total"] for key in rows}
    assert totals == rows
