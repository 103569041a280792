"""A query goes on, and its retention removes files, while its state is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import keyfold
from keyfold.errors import BatchNotRetainedError, FileMissingError
from keyfold.storage.storage import Storage
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter


@pytest.fixture
def writer(fake: FakeCheckpoint) -> StateWriter:
    found = StateWriter(fake)
    found.batch({key: key for key in range(40)})
    found.batch({1: 11})
    return found


@pytest.fixture
def before_opening(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[], Any]], None]:
    """Makes something happen once, right before a file is first opened."""

    def plan(part: str, action: Callable[[], Any]) -> None:
        pending = [action]
        opening = Storage.open

        def opened(self: Storage, path: str, size: int | None = None) -> Any:
            if part in path and pending:
                pending.pop()()
            return opening(self, path, size)

        monkeypatch.setattr(Storage, "open", opened)

    return plan


def move_on(writer: StateWriter) -> None:
    """A batch with snapshots, after which nothing older is kept."""
    writer.batch({2: 22}, snapshots=True)
    for version in (1, 2):
        for partition in (0, 1):
            writer.path(version, "delta", partition).unlink()
        (writer.fake.root / f"commits/{version - 1}").unlink()


def totals(rows: Any) -> dict[int, int]:
    return {row["key"]["id"]: row["value"]["total"] for row in rows}


AFTER = {key: key for key in range(40)} | {1: 11, 2: 22}


@pytest.mark.parametrize("part", ["2_id-2-0", "1_id-1-0", "2_id-2-1", "1_id-1-1"])
def test_rows_are_of_one_batch_whenever_it_happens(
    writer: StateWriter, before_opening: Any, part: str
) -> None:
    table = keyfold.open_checkpoint(writer.fake.root)["agg"]
    before_opening(part, lambda: move_on(writer))
    assert totals(table.scan().to_pylist()) == AFTER


def test_one_key(writer: StateWriter, before_opening: Any) -> None:
    table = keyfold.open_checkpoint(writer.fake.root)["agg"]
    before_opening("1_id-1-", lambda: move_on(writer))
    assert totals(table.get({"id": 2}).to_pylist()) == {2: 22}


def test_batch_that_was_asked_for_by_number_is_told_to_be_gone(
    writer: StateWriter, before_opening: Any
) -> None:
    table = keyfold.open_checkpoint(writer.fake.root)["agg"]
    before_opening("1_id-1-1", lambda: move_on(writer))
    with pytest.raises(BatchNotRetainedError, match="after batch 1"):
        table.scan(batch=1).to_arrow()


def test_rows_given_out_are_never_mixed_with_those_of_a_newer_batch(
    writer: StateWriter, before_opening: Any
) -> None:
    table = keyfold.open_checkpoint(writer.fake.root)["agg"]
    before_opening("1_id-1-1", lambda: move_on(writer))
    with pytest.raises(BatchNotRetainedError):
        list(table.scan().batches())


def test_snapshot_that_comes_while_deltas_go(writer: StateWriter, before_opening: Any) -> None:
    """The same version by other files, without a newer batch."""

    def replace() -> None:
        own = {k: v for k, v in writer.rows.items() if writer.owner(k) == 0}
        rows = [writer._put(key) for key in own]
        writer.path(2, "snapshot").write_bytes(
            writer.file(2, "snapshot", 0, rows, lineage=writer.lineage[0][1:])
        )
        writer.path(1).unlink()

    table = keyfold.open_checkpoint(writer.fake.root)["agg"]
    before_opening("1_id-1-0", replace)
    assert totals(table.scan().to_pylist()) == {key: key for key in range(40)} | {1: 11}


def test_file_that_is_lost_for_good_is_an_error(writer: StateWriter) -> None:
    writer.path(1).unlink()
    with pytest.raises(FileMissingError, match=r"1_id-1-0\.delta"):
        keyfold.open_checkpoint(writer.fake.root)["agg"].scan().to_arrow()


def test_history_leaves_out_what_goes_meanwhile(writer: StateWriter, before_opening: Any) -> None:
    table = keyfold.open_checkpoint(writer.fake.root)["agg"]
    before_opening("1_id-1-", lambda: move_on(writer))
    found = table.history({"id": 1})
    assert set(found.column("batch_id").to_pylist()) <= {0, 1, 2}


def test_fsck_finds_nothing_wrong_with_it(writer: StateWriter, before_opening: Any) -> None:
    before_opening("1_id-1-1", lambda: move_on(writer))
    assert keyfold.open_checkpoint(writer.fake.root).fsck(deep=True).findings == ()
