"""A query goes on while its checkpoint is described."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import keyfold
from keyfold.storage.files import Listed
from keyfold.storage.storage import Storage
from kit.fake_checkpoint import FakeCheckpoint


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[], Any]], None]:
    """Makes something happen once, right after a folder is first listed."""

    def plan(folder: str, action: Callable[[], Any]) -> None:
        pending = [action]
        listing = Storage.listing

        def listed(self: Storage, path: str, **how: Any) -> list[Listed]:
            found = listing(self, path, **how)
            if path == folder and pending:
                pending.pop()()
            return found

        monkeypatch.setattr(Storage, "listing", listed)

    return plan


def two_batches(fake: FakeCheckpoint) -> None:
    fake.partitions = 1
    fake.run(0, 1)
    fake.operator()
    fake.state(1)
    fake.state(2)


def test_head_replaced_by_another_kind(fake: FakeCheckpoint, meanwhile: Any) -> None:
    two_batches(fake)

    def replace() -> None:
        fake.state(2, "snapshot")
        (fake.root / "state/0/0/2.delta").unlink()

    meanwhile("state/0/0", replace)
    found = keyfold.open_checkpoint(fake.root).describe()
    assert found.problems == ()
    assert (found.rows, found.operators[0].stores[0].snapshots) == (10, 1)


def test_query_moves_on_and_removes_what_is_read(fake: FakeCheckpoint, meanwhile: Any) -> None:
    two_batches(fake)
    opened = keyfold.open_checkpoint(fake.root)

    def move_on() -> None:
        fake.run(2)
        fake.state(3, "snapshot")
        for old in ("1.delta", "2.delta"):
            (fake.root / "state/0/0" / old).unlink()

    meanwhile("state/0/0", move_on)
    found = opened.describe()
    assert found.problems == ()
    assert found.last_batch == 2
    assert (found.rows, found.operators[0].oldest_loadable_version) == (10, 3)


def test_newest_commit_vanishes_after_listing(fake: FakeCheckpoint, meanwhile: Any) -> None:
    two_batches(fake)
    opened = keyfold.open_checkpoint(fake.root)
    meanwhile("commits", (fake.root / "commits/1").unlink)
    found = opened.describe()
    assert (found.last_batch, found.problems) == (0, ())
    assert found.operators[0].latest_version == 1


def test_temporary_and_hidden_files_are_ignored(fake: FakeCheckpoint) -> None:
    two_batches(fake)
    fake.write("state/0/0/.2.delta.crc", b"x")
    fake.write("state/0/0/.3.delta.tmp", b"x")
    fake.write("state/0/0/2.delta.crc", b"x")
    fake.write("state/0/0/_metadata/schema", b"x")
    store = keyfold.open_checkpoint(fake.root).describe().operators[0].stores[0]
    assert (store.deltas, store.snapshots) == (2, 0)
