"""The end of a check: whether the query can start, and the command that takes it back."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import keyfold
from keyfold.errors import KeyfoldError
from keyfold.fsck.finding import Severity
from keyfold.fsck.report import FsckReport
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter


@pytest.fixture(params=[True, False], ids=["with ids", "without"])
def writer(fake: FakeCheckpoint, request: pytest.FixtureRequest) -> StateWriter:
    """Batches 0 to 4, with snapshots of batch 2."""
    found = StateWriter(fake, ids=request.param)
    found.batch({key: key for key in range(40)})
    found.batch(dict.fromkeys(range(0, 40, 5)))
    found.batch({1: 11, 2: 22}, snapshots=True)
    found.batch({3: 33})
    found.batch({4: 44})
    return found


def check(writer: StateWriter) -> FsckReport:
    return keyfold.open_checkpoint(writer.fake.root).fsck()


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


def command(writer: StateWriter, batch: int) -> str:
    return f"keyfold rollback {writer.fake.root} --to-batch {batch} --apply"


def test_nothing_wrong(writer: StateWriter) -> None:
    report = check(writer)
    assert report.verdict.can_start
    assert report.verdict.command is None
    assert str(report).endswith("The query can start: batch 4, its last, is whole.")


def test_delta_that_only_an_older_batch_needs(writer: StateWriter) -> None:
    damage(writer.path(2))
    report = check(writer)
    assert [it.severity for it in report.findings] == [Severity.LOSES]
    assert (report.verdict.can_start, report.verdict.lost, report.ok) == (True, 1, False)
    assert str(report).endswith("its last, is whole; 1 older batch cannot be loaded.")


def test_snapshot_whose_rows_other_files_have(writer: StateWriter) -> None:
    damage(writer.path(3, "snapshot"))
    report = check(writer)
    assert [it.severity for it in report.findings] == [Severity.HARMLESS]
    assert (report.verdict.can_start, report.verdict.lost) == (True, 0)


def test_newest_delta_is_gone(writer: StateWriter) -> None:
    writer.path(5).unlink()
    report = check(writer)
    assert [it.severity for it in report.findings] == [Severity.STOPS]
    assert (report.verdict.can_start, report.verdict.newest_good) == (False, 3)
    assert str(report).splitlines()[-1] == command(writer, 3)
    assert report.to_dict()["verdict"]["command"] == command(writer, 3)


def test_file_that_several_batches_need_is_named_once(writer: StateWriter) -> None:
    writer.path(4).unlink()
    (found,) = check(writer).findings
    assert found.path == str(writer.path(4))
    assert found.message.startswith("batches 3 to 4 need it.")
    assert check(writer).verdict.newest_good == 2


def test_newest_batch_that_is_whole_in_all_partitions(writer: StateWriter) -> None:
    damage(writer.path(5, partition=0))
    damage(writer.path(4, partition=1))
    report = check(writer)
    assert report.verdict.newest_good == 2
    assert {it.severity for it in report.findings} == {Severity.STOPS}


def test_no_batch_is_left(writer: StateWriter) -> None:
    for version in range(1, 6):
        damage(writer.path(version))
    damage(writer.path(3, "snapshot"))
    report = check(writer)
    assert (report.verdict.can_start, report.verdict.newest_good) == (False, None)
    assert str(report).endswith("no batch is left to go back to.")


@pytest.mark.parametrize(("log", "batch", "newest"), [
    ("commits", 4, 3), ("offsets", 4, 3), ("offsets", 3, 2),
])  # fmt: skip
def test_entry_of_a_log_that_spark_needs(
    writer: StateWriter, log: str, batch: int, newest: int
) -> None:
    entry = writer.fake.root / f"{log}/{batch}"
    entry.write_text("v1\n{")
    report = check(writer)
    assert (report.verdict.can_start, report.verdict.newest_good) == (False, newest)
    assert [it.severity for it in report.findings if it.path == str(entry)] == [Severity.STOPS]


def test_batch_that_was_begun_with_an_entry_that_is_damaged(writer: StateWriter) -> None:
    entry = writer.fake.root / "offsets/5"
    entry.write_text("")
    report = check(writer)
    assert not report.verdict.can_start
    assert "Batch 5 was begun, and its entry in the offset log is damaged" in str(report)
    assert [it.severity for it in report.findings if it.path == str(entry)] == [Severity.STOPS]
    assert str(report).splitlines()[-1] == command(writer, 4)
    damage(writer.path(5))
    report = check(writer)
    assert str(report).splitlines()[-1] == command(writer, 3)
    assert "Batch 4, the last, is damaged" in str(report)


def test_oldest_batch_in_the_logs_is_none_to_go_back_to(writer: StateWriter) -> None:
    """Spark needs the offsets of the batch before it, which it has deleted."""
    for batch in (0, 1):
        for log in ("offsets", "commits"):
            (writer.fake.root / f"{log}/{batch}").unlink()
    assert check(writer).verdict.can_start
    damage(writer.path(5))
    assert check(writer).verdict.newest_good == 3
    damage(writer.path(4))
    report = check(writer)
    keyfold.open_checkpoint(writer.fake.root)[0].scan(batch=2).to_arrow()
    assert (report.verdict.newest_good, report.verdict.command) == (None, None)


def test_operator_whose_versioned_description_is_damaged(writer: StateWriter) -> None:
    """Going back does not mend it."""
    writer.fake.operator_v2(0).write_text("?")
    report = check(writer)
    assert (report.verdict.can_start, report.verdict.command) == (False, None)


def test_first_batch_has_not_ended(fake: FakeCheckpoint) -> None:
    fake.start(0)
    assert str(keyfold.open_checkpoint(fake.root).fsck()).endswith("No batch is committed yet.")


@pytest.mark.parametrize("seed", range(20))
def test_random_damage_against_what_can_be_read(writer: StateWriter, seed: int) -> None:
    """A batch is good if all of its rows can be read, which is another way through the files."""
    chance = random.Random(seed)  # noqa: S311 - damage, not secrets
    files = sorted(it for it in (writer.fake.root / "state/0").glob("[01]/*") if it.is_file())
    for path in chance.sample(files, chance.randint(1, 4)):
        chance.choice((damage, Path.unlink))(path)

    def is_readable(batch: int) -> bool:
        try:
            keyfold.open_checkpoint(writer.fake.root)[0].scan(batch=batch).to_arrow()
        except KeyfoldError:
            return False
        return True

    good = [batch for batch in range(5) if is_readable(batch)]
    found = check(writer).verdict
    assert (found.can_start, found.newest_good) == (4 in good, max(good, default=None))
    assert found.command == (command(writer, max(good)) if good and 4 not in good else None)
