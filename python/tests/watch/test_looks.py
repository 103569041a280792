"""Looks at a checkpoint whose query begins, runs, stops, goes back or is another one."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from keyfold.errors import BatchNotRetainedError, KeyfoldError, StorageError
from keyfold.spark_log.batch import Batch
from keyfold.storage.files import Listed
from keyfold.storage.storage import Storage
from keyfold.watch import reading
from keyfold.watch.look import Look
from keyfold.watch.watcher import Watcher
from kit.fake_checkpoint import QUERY, FakeCheckpoint
from kit.golden.spec import family
from kit.state_writer import StateWriter, hash_of
from python.tests.watch.running import BEGAN, Running


@pytest.fixture
def watcher(fake: FakeCheckpoint) -> Watcher:
    return Watcher(Storage(fake.root))


def numbers(look: Look) -> list[int]:
    return [it.batch_id for it in look.batches]


def settled(watcher: Watcher) -> Look:
    """What is there when two looks have seen that the commit log does not go on."""
    before, look = watcher.look(), watcher.look()
    assert before.note != look.note
    return look


def test_before_the_first_batch(fake: FakeCheckpoint, watcher: Watcher) -> None:
    assert watcher.look().batches == ()
    fake.start(0)
    look = watcher.look()
    assert (look.query_id, look.last, look.begun, look.begun_ms) == (QUERY, None, 0, BEGAN)
    StateWriter(fake).batch({1: 1})
    look = watcher.look()
    assert (numbers(look), look.begun) == ([0], None)


def test_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    watcher = Watcher(Storage(tmp_path / "later"))
    assert watcher.look().query_id is None
    StateWriter(FakeCheckpoint(tmp_path / "later")).batch({1: 1})
    look = watcher.look()
    assert (look.query_id, numbers(look)) == (QUERY, [0])


def test_what_is_said_of_a_batch(fake: FakeCheckpoint, watcher: Watcher) -> None:
    running = Running(fake)
    running.batch(dict.fromkeys(range(30), 1))
    running.batch({1: 2, 2: None, 40: 4})
    fake.start(2)
    look = watcher.look()
    first, last = look.batches
    assert (first.interval_ms, last.interval_ms) == (None, 1000)
    assert (last.started_ms, last.committed_ms) == (BEGAN + 1000, BEGAN + 1700)
    assert (last.first_state_ms, last.last_state_ms) == (BEGAN + 1100, BEGAN + 1300)
    assert (last.duration_ms, last.commit_ms) == (700, 600)
    assert (first.changes, last.changes) == (30, 3)
    assert (first.rows, last.rows, last.live_bytes) == (30, 30, 30 * 32)
    sizes = [running.writer.path(2, partition=it).stat().st_size for it in range(2)]
    assert last.written_bytes == sum(sizes)
    assert last.partitions == 2
    assert (look.begun, look.begun_ms) == (2, BEGAN + 2000)
    assert look.mean("interval_ms") == 1000


def test_what_is_said_of_the_state(fake: FakeCheckpoint, watcher: Watcher) -> None:
    running = Running(fake)
    for number in range(4):
        running.batch(dict.fromkeys(range(number, number + 20), number), snapshots=number == 1)
    (operator,) = watcher.look().operators
    assert (operator.id, operator.name, operator.partitions) == (0, "stateStoreSave", 2)
    assert (operator.rows, operator.live_bytes, operator.snapshot_age) == (23, 23 * 32, 2)
    files = [it for it in fake.root.glob("state/0/[01]/*") if it.is_file()]
    files = [it for it in files if it.name[0].isdigit()]
    assert operator.disk_bytes == sum(it.stat().st_size for it in files)
    rows = [sum(running.writer.owner(key) == it for key in range(23)) for it in range(2)]
    heaviest = sorted(range(2), key=lambda it: -rows[it])
    found = watcher.look().partitions
    assert [(it.operator, it.partition, it.rows) for it in found] == [
        (0, it, rows[it]) for it in heaviest
    ]


def test_snapshots_of_partitions_that_do_not_change_do_not_age(
    fake: FakeCheckpoint, watcher: Watcher
) -> None:
    writer = StateWriter(fake, sparse=True)
    still = next(it for it in range(99) if writer.owner(it) == 0)
    changing = next(it for it in range(99) if writer.owner(it) == 1)
    writer.batch({still: 1, changing: 1}, snapshots=True)
    for number in range(5):
        writer.batch({changing: number})
    assert watcher.look().operators[0].snapshot_age == 5
    writer.batch({changing: 9}, snapshots=True)
    assert watcher.look().operators[0].snapshot_age == 0


def test_hot_key_groups_are_those_of_the_last_ten_batches(
    fake: FakeCheckpoint, watcher: Watcher
) -> None:
    writer = StateWriter(fake)
    old, hot = 1, next(it for it in range(2, 99) if hash_of(it) % 12 != hash_of(1) % 12)
    for number in range(10):
        writer.batch({old: number})
    assert watcher.look().groups.tolist()[2:4] == [[hash_of(old) % 12], [10]]
    for number in range(8):
        writer.batch({hot: number})
        look = watcher.look()
    assert look.hot_batches == 10
    operator, partition, group, changes, size = look.groups.T.tolist()[0]
    assert (operator, partition, group) == (0, writer.owner(hot), hash_of(hot) % 12)
    assert (changes, size) == (8, 8 * 32)
    assert look.groups[3].tolist() == [8, 2]
    assert look.batches[-1].hottest[0].key_group == hash_of(hot) % 12


def test_a_group_is_hot_by_what_is_written_of_it(fake: FakeCheckpoint, watcher: Watcher) -> None:
    writer = StateWriter(fake, multi=True)
    often, much = 1, next(it for it in range(2, 99) if hash_of(it) % 12 != hash_of(1) % 12)
    for number in range(5):
        writer.batch({often: [number]})
    writer.batch({much: list(range(50))})
    groups = watcher.look().groups.tolist()
    assert groups[2] == [hash_of(much) % 12, hash_of(often) % 12]
    assert groups[3] == [1, 5]
    assert groups[4][0] > groups[4][1]


def test_batches_between_two_looks_are_all_seen(fake: FakeCheckpoint, watcher: Watcher) -> None:
    running = Running(fake)
    for number in range(15):
        running.batch({number: 1})
    # The last ten at first.
    assert numbers(watcher.look()) == list(range(5, 15))
    for number in range(3):
        running.batch({number: 2, 50 + number: 2})
    look = watcher.look()
    assert numbers(look) == list(range(5, 18))
    assert [it.changes for it in look.batches[-3:]] == [2, 2, 2]
    assert [it.interval_ms for it in look.batches[-3:]] == [1000] * 3


def test_of_many_files_the_newest_are_read(fake: FakeCheckpoint, watcher: Watcher) -> None:
    running = Running(fake, partitions=100, groups=100)
    for _ in range(5):
        running.batch({1: 1})
    # 100 files of the last batch, and at most 256 of those before it.
    assert [it.changes for it in watcher.look().batches] == [None, None, 1, 1, 1]
    assert [it.duration_ms for it in watcher.look().batches] == [700] * 5


def test_unchanged_partitions_have_no_changes(fake: FakeCheckpoint, watcher: Watcher) -> None:
    writer = StateWriter(fake, sparse=True)
    writer.batch({it: it for it in range(20)})
    writer.batch({1: 5})
    writer.batch({})
    look = watcher.look()
    assert [it.changes for it in look.batches] == [20, 1, 0]
    assert [it.rows for it in look.batches] == [20, 20, 20]
    assert look.batches[-1].written_bytes == 0


def test_a_checkpoint_without_ids(fake: FakeCheckpoint, watcher: Watcher) -> None:
    writer = StateWriter(fake, ids=False)
    writer.batch({it: it for it in range(20)})
    assert watcher.look().batches[-1].changes == 20
    writer.batch({1: 5})
    assert [it.changes for it in watcher.look().batches] == [20, 1]


def test_rolled_back_and_run_again(fake: FakeCheckpoint, watcher: Watcher) -> None:
    running = Running(fake)
    for number in range(6):
        running.batch({number: 1})
    before = watcher.look()
    assert before.note is None
    running.back_to(2)
    fake.write("metadata", '{"id": "another-id"}')
    look = settled(watcher)
    assert look.batches == before.batches[:3]
    assert look.query_id == "another-id"
    assert look.note is not None
    assert look.note.endswith("rolled back from batch 5 to batch 2.")
    assert look.groups[3].sum() == 3
    # Run again, between two looks, as far as it had been and further.
    for number in range(4):
        running.batch({number: 7, 100 + number: 7})
    look = watcher.look()
    assert numbers(look) == list(range(7))
    assert [it.changes for it in look.batches] == [1, 1, 1, 2, 2, 2, 2]


def test_rolled_back_and_run_as_far_as_before(fake: FakeCheckpoint, watcher: Watcher) -> None:
    running = Running(fake)
    for number in range(4):
        running.batch({number: 1})
    watcher.look()
    running.back_to(1)
    for number in range(2):
        running.batch({number: 7, 100 + number: 7}, late_ms=90_000)
    look = settled(watcher)
    assert look.note is not None
    assert "rolled back from batch 3 to batch 1" in look.note
    assert [it.changes for it in look.batches] == [1, 1, 2, 2]


def test_a_listing_that_is_old_for_once_is_not_believed(
    fake: FakeCheckpoint, watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = Running(fake)
    for number in range(4):
        running.batch({number: 1})
    before = watcher.look()
    running.batch({9: 1})
    listing = Storage.listing

    def old(self: Storage, path: str, **how: Any) -> list[Listed]:
        found = listing(self, path, **how)
        return (
            [it for it in found if it.name not in {"2", "3", "4"}] if path == "commits" else found
        )

    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(Storage, "listing", old)
            assert watcher.look().batches == before.batches
        look = watcher.look()
        assert (numbers(look), look.note) == ([0, 1, 2, 3, 4], None)
        before = look


def test_a_query_that_is_faster_than_each_look_is_an_error_and_not_an_empty_checkpoint(
    fake: FakeCheckpoint, watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = Running(fake)
    running.batch({1: 1})
    watcher.look()
    running.batch({2: 2})

    def gone(*_: object) -> Batch:
        raise BatchNotRetainedError("It was deleted.")

    with monkeypatch.context() as patch:
        patch.setattr(reading, "find_batch", gone)
        with pytest.raises(BatchNotRetainedError, match="each time"):
            watcher.look()
    look = watcher.look()
    assert (numbers(look), look.note) == ([0, 1], None)


def test_another_query_in_the_same_folder(fake: FakeCheckpoint, watcher: Watcher) -> None:
    running = Running(fake)
    for number in range(4):
        running.batch({number: 1})
    watcher.look()
    shutil.rmtree(fake.root)
    look = settled(watcher)
    assert (look.batches, look.query_id, look.operators) == ((), None, ())
    assert look.note is not None
    assert "no batch is committed any more; batch 3 was the last" in look.note
    fake.write("metadata", '{"id": "another"}')
    other = StateWriter(fake, partitions=3)
    other.batch({1: 1, 2: 2})
    look = watcher.look()
    assert (numbers(look), look.query_id, look.operators[0].partitions) == ([0], "another", 3)


def test_replaced_between_two_looks(fake: FakeCheckpoint, watcher: Watcher) -> None:
    running = Running(fake)
    for number in range(4):
        running.batch({number: 1})
    watcher.look()
    shutil.rmtree(fake.root)
    fake.write("metadata", '{"id": "another"}')
    other = Running(fake, partitions=3)
    for number in range(9):
        other.batch({number: 1, 50 + number: 1}, late_ms=200)
    look = settled(watcher)
    assert look.query_id == "another"
    assert look.note is not None
    assert "another query's checkpoint is here now; batch 3 was the last" in look.note
    assert [it.changes for it in look.batches] == [2] * 9


def test_rescaled(fake: FakeCheckpoint, watcher: Watcher) -> None:
    writer = StateWriter(fake)
    for number in range(3):
        writer.batch({number: 1})
    assert watcher.look().operators[0].partitions == 2
    fake.partitions = 4
    ids = [[f"r{it}"] for it in range(4)]
    unknown = family(0, "default", -1, -1)
    for partition in range(4):
        fake.state(4, "reference", partition=partition, id=f"r{partition}", families=[unknown])
    fake.start(3, partitions=4)
    fake.commit(3, {0: ids})
    look = watcher.look()
    assert look.problems == ()
    (operator,) = look.operators
    assert (operator.partitions, operator.rows, operator.snapshot_age) == (4, None, 0)
    assert (look.batches[-1].partitions, look.batches[-1].changes) == (4, 0)
    # Those of other partitions are not added to them.
    assert (look.hot_batches, look.groups.shape[1]) == (1, 0)


def test_a_storage_error_and_after_it(
    fake: FakeCheckpoint, watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = Running(fake)
    running.batch({1: 1})
    watcher.look()
    running.batch({2: 2})
    for broken in ("listing", "content"):
        with monkeypatch.context() as patch:
            patch.setattr(Storage, broken, refuse)
            with pytest.raises(StorageError):
                watcher.look()
    look = watcher.look()
    assert (numbers(look), look.note) == ([0, 1], None)
    assert [it.changes for it in look.batches] == [1, 1]


def refuse(*_: object, **__: object) -> Any:
    raise StorageError("The server is away.")


def test_a_damaged_head_is_named_and_the_rest_is_shown(
    fake: FakeCheckpoint, watcher: Watcher
) -> None:
    running = Running(fake)
    running.batch(dict.fromkeys(range(20), 1))
    path = running.writer.path(1, partition=1)
    path.write_bytes(path.read_bytes()[:-4])
    look = watcher.look()
    assert len(look.problems) == 1
    assert path.name in look.problems[0]
    assert (look.last.rows, look.last.changes) == (None, None)  # type: ignore[union-attr]
    assert [it.partition for it in look.partitions] == [0]
    running.batch(dict.fromkeys(range(20), 2))
    look = watcher.look()
    assert (look.problems, look.batches[-1].rows) == ((), 20)


def test_a_damaged_log_entry_is_an_error_until_the_next_batch(
    fake: FakeCheckpoint, watcher: Watcher
) -> None:
    running = Running(fake)
    running.batch({1: 1})
    watcher.look()
    running.batch({2: 2})
    fake.write("commits/1", "nonsense")
    with pytest.raises(KeyfoldError, match="commits/1"):
        watcher.look()
    running.batch({3: 3})
    look = watcher.look()
    assert [(it.batch_id, it.changes) for it in look.batches] == [(0, 1), (1, None), (2, 1)]


@pytest.mark.parametrize("folder", ["state/0/0", "commits", "offsets"])
def test_the_query_goes_on_and_deletes_what_was_listed(
    fake: FakeCheckpoint, watcher: Watcher, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    running = Running(fake)
    running.batch({1: 1})
    watcher.look()
    running.batch({2: 2})
    listing, pending = Storage.listing, [True]

    def listed(self: Storage, path: str, **how: Any) -> list[Listed]:
        found = listing(self, path, **how)
        if path == folder and pending:
            pending.clear()
            running.batch({3: 3, 4: 4}, snapshots=True)
            running.batch({5: 5})
            running.writer.retain(4)
        return found

    monkeypatch.setattr(Storage, "listing", listed)
    look = watcher.look()
    assert not pending
    assert (look.problems, look.note) == ((), None)
    assert look.batches[-1].rows == (5 if look.batches[-1].batch_id == 3 else 2)
    look = watcher.look()
    assert (look.problems, look.note, look.batches[-1].batch_id) == ((), None, 3)


def test_a_copy_has_no_times_of_its_files(
    fake: FakeCheckpoint, watcher: Watcher, tmp_path: Path
) -> None:
    running = Running(fake)
    for number in range(3):
        running.batch({number: 1})
    assert watcher.look().batches[-1].duration_ms == 700
    shutil.copytree(fake.root, tmp_path / "copy", copy_function=shutil.copyfile)
    last = Watcher(Storage(tmp_path / "copy")).look().batches[-1]
    assert (last.committed_ms, last.first_state_ms, last.duration_ms) == (None, None, None)
    assert (last.started_ms, last.changes) == (BEGAN + 2000, 1)


def test_a_copy_of_a_single_batch_has_none_either(
    fake: FakeCheckpoint, watcher: Watcher, tmp_path: Path
) -> None:
    running = Running(fake)
    for number in range(3):
        running.batch({number: 1})
    for number in range(2):
        (fake.root / f"commits/{number}").unlink()
    (fake.root / "offsets/0").unlink()
    assert watcher.look().batches[-1].duration_ms == 700
    shutil.copytree(fake.root, tmp_path / "copy", copy_function=shutil.copyfile)
    copied = Watcher(Storage(tmp_path / "copy"))
    (last,) = copied.look().batches
    assert (last.committed_ms, last.first_state_ms, last.duration_ms) == (None, None, None)
