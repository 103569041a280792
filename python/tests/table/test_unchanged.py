"""Versions that are not written, since nothing has changed, are read as if they were."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import keyfold
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter

BATCHES = st.lists(
    st.dictionaries(st.integers(0, 3), st.one_of(st.integers(0, 2), st.none()), max_size=2),
    min_size=2,
    max_size=7,
)


@settings(max_examples=60, deadline=None)
@given(BATCHES)
def test_every_version_is_loadable(batches: list[dict[int, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        writer = StateWriter(FakeCheckpoint(Path(folder) / "cp"), sparse=True)
        for changes in batches:
            writer.batch(changes)
        root = writer.fake.root
        described = keyfold.open_checkpoint(root).describe()
        operator = described.operators[0]
        assert described.problems == ()
        assert operator.oldest_loadable_version == 1
        assert operator.newest_loadable_version == len(batches)
        assert keyfold.open_checkpoint(root).fsck(deep=True).findings == ()


def test_a_version_that_the_commit_log_skips_is_found() -> None:
    with tempfile.TemporaryDirectory() as folder:
        writer = StateWriter(FakeCheckpoint(Path(folder) / "cp"), partitions=1, sparse=True)
        for changes in ({1: 1}, {}, {2: 2}):
            writer.batch(changes)
        assert keyfold.open_checkpoint(writer.fake.root).fsck().findings == ()
        # As if version 2 had been written, and version 3 had not been built on it.
        writer.fake.commit(1, {0: [["id-2-0"]]})
        path = writer.path(2)
        path.write_bytes(writer.file(2, "delta", 0, [], lineage=writer.lineage[0][1:], rows={}))
        found = keyfold.open_checkpoint(writer.fake.root).fsck().findings
        assert [(it.kind.value, Path(it.path).name) for it in found] == [
            ("damaged", writer.path(3).name)
        ]


def test_a_file_that_unchanged_versions_need_is_missed() -> None:
    with tempfile.TemporaryDirectory() as folder:
        writer = StateWriter(FakeCheckpoint(Path(folder) / "cp"), partitions=1, sparse=True)
        for changes in ({1: 1}, {}, {}):
            writer.batch(changes)
        writer.path(1).unlink()
        checkpoint = keyfold.open_checkpoint(writer.fake.root)
        assert {it.kind.value for it in checkpoint.fsck().findings} == {"damaged"}
        assert writer.path(1).name in str(checkpoint.describe().problems[0])


def test_a_commit_log_that_goes_back_is_found() -> None:
    with tempfile.TemporaryDirectory() as folder:
        writer = StateWriter(FakeCheckpoint(Path(folder) / "cp"), partitions=1, sparse=True)
        for changes in ({1: 1}, {2: 2}, {3: 3}):
            writer.batch(changes)
        for earlier in (1, 2):
            writer.fake.commit(2, {0: [[f"={earlier}_id-{earlier}-0"]]})
            found = keyfold.open_checkpoint(writer.fake.root).fsck(deep=True).findings
            # Version 2 was the last one before it, so to say that it still holds is no lie.
            expected = [] if earlier == 2 else [("damaged", "2")]
            lies = [it for it in found if "goes back to version" in it.message]
            assert [(it.kind.value, Path(it.path).name) for it in lies] == expected
