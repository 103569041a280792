"""Stores with merged deltas: what is needed, what is damaged, and what it does to the query."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

import keyfold
from keyfold.errors import KeyfoldError
from keyfold.fsck.finding import Kind, Severity
from keyfold.fsck.report import FsckReport
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter


@pytest.fixture
def writer(fake: FakeCheckpoint) -> StateWriter:
    """Of version 9, the lineage is 9, 8, 7.4 merged, 4.2 merged, 2 snapshot."""
    found = StateWriter(fake)
    for number in range(1, 10):
        found.batch(dict.fromkeys(range(number, number + 20), number), snapshots=number == 2)
        if number in {4, 7}:
            for partition in (0, 1):
                found.merge({4: 2, 7: 4}[number], partition)
    return found


def check(writer: StateWriter, *, deep: bool = False) -> FsckReport:
    return keyfold.open_checkpoint(writer.fake.root).fsck(deep=deep)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[40] ^= 0x55
    path.write_bytes(content)


def of(report: FsckReport) -> set[tuple[str, Kind, Severity]]:
    """What was found, by the name of the file."""
    return {(Path(it.path).name, it.kind, it.severity) for it in report.findings}


@pytest.mark.parametrize("deep", [False, True])
def test_healthy(writer: StateWriter, deep: bool) -> None:  # noqa: FBT001
    report = check(writer, deep=deep)
    assert report.findings == ()
    # 9 deltas, 1 snapshot and 2 merged deltas, in each partition.
    assert (report.batches, report.files) == (9, 24)


@pytest.mark.parametrize("deep", [False, True])
def test_healthy_after_retention(writer: StateWriter, deep: bool) -> None:  # noqa: FBT001
    writer.retain(7)
    report = check(writer, deep=deep)
    assert report.findings == ()
    # The deltas 7 to 9, the snapshot and both merged deltas.
    assert (report.batches, report.files) == (3, 12)
    assert str(report.verdict) == "The query can start: batch 8, its last, is whole."


def test_healthy_before_retention_has_deleted_what_no_batch_needs(writer: StateWriter) -> None:
    """No lineage of the batches that are left has versions 3, 5 and 6."""
    for batch in range(6):
        for log in ("commits", "offsets"):
            (writer.fake.root / log / str(batch)).unlink()
    assert check(writer, deep=True).findings == ()
    # As while retention deletes, the oldest first.
    writer.path(1).unlink()
    writer.path(3).unlink()
    assert check(writer, deep=True).findings == ()


def test_batches_that_retention_has_deleted_before_spark_has_deleted_their_log_entries(
    writer: StateWriter,
) -> None:
    writer.retain(7)
    for batch in range(6):
        writer.fake.start(batch)
        ids = [[writer.unique(partition, batch + 1)] for partition in (0, 1)]
        writer.fake.commit(batch, {0: ids})
    report = check(writer, deep=True)
    assert report.ok
    # Version 2 has its snapshot: no finding says that its delta is missing.
    assert {(it.kind, it.path.rsplit("/", 1)[-1].split("_")[0]) for it in report.findings} == {
        (Kind.EXPIRED, version) for version in ("1", "3", "4", "5", "6")
    }


@pytest.mark.parametrize("base", [4, 2])
def test_a_damaged_merged_delta_whose_deltas_are_there_stops_nothing(
    writer: StateWriter, base: int
) -> None:
    path = writer.path({4: 7, 2: 4}[base], f"{base}.merged")
    flip(path)
    report = check(writer)
    assert of(report) == {(path.name, Kind.DAMAGED, Severity.HARMLESS)}
    assert report.verdict.can_start
    assert report.verdict.lost == 0


def test_a_missing_merged_delta_whose_deltas_are_there_stops_nothing(writer: StateWriter) -> None:
    path = writer.path(7, "4.merged")
    path.unlink()
    report = check(writer)
    assert of(report) == {(path.name, Kind.DAMAGED, Severity.HARMLESS)}
    assert all("was built on it" in it.message for it in report.findings)
    assert report.verdict.can_start


def test_a_missing_merged_delta_is_found_once(writer: StateWriter) -> None:
    writer.path(7, "4.merged").unlink()
    assert len(check(writer).findings) == 1


def test_a_missing_merged_delta_is_no_damage_if_its_version_has_another(
    fake: FakeCheckpoint,
) -> None:
    """As in a clone, which has the files of one chain."""
    writer = StateWriter(fake, partitions=1)
    for number in range(1, 10):
        writer.batch({number: number}, snapshots=number == 2)
        if number == 7:
            writer.merge(2, 0, named=False)
            writer.merge(4, 0).unlink()
    assert of(check(writer)) == set()


@pytest.mark.parametrize(("version", "base"), [(7, 4), (4, 2)])
def test_a_merged_delta_that_nothing_replaces_any_more_stops_the_query(
    writer: StateWriter, version: int, base: int
) -> None:
    writer.retain(7)
    path = writer.path(version, f"{base}.merged")
    flip(path)
    report = check(writer)
    assert of(report) == {(path.name, Kind.DAMAGED, Severity.STOPS)}
    assert not report.verdict.can_start
    assert report.verdict.newest_good is None
    path.unlink()
    found = [it for it in check(writer).findings if Path(it.path).name == path.name]
    assert {(it.kind, it.severity) for it in found} == {(Kind.DAMAGED, Severity.STOPS)}
    assert all("needs it" in it.message or "need it" in it.message for it in found)


def test_a_damaged_delta_that_a_merged_one_replaces_loses_only_its_own_batches(
    writer: StateWriter,
) -> None:
    flip(writer.path(6))
    report = check(writer)
    assert of(report) == {(writer.path(6).name, Kind.DAMAGED, Severity.LOSES)}
    # Version 7 and later ones have its rows in the merged delta.
    assert report.verdict.can_start
    assert (report.verdict.newest_good, report.verdict.lost) == (8, 1)


def test_files_in_the_place_of_a_merged_delta_are_needed(writer: StateWriter) -> None:
    """No lineage of the batches that are left has versions 5 and 6."""
    for batch in range(7):
        for log in ("commits", "offsets"):
            (writer.fake.root / log / str(batch)).unlink()
    for partition in (0, 1):
        writer.path(7, "4.merged", partition).unlink()
    found = check(writer).findings
    assert found
    assert Kind.UNREFERENCED not in {it.kind for it in found}
    assert {it.severity for it in found} == {Severity.HARMLESS}
    flip(writer.path(6))
    stopping = {it.path for it in check(writer).findings if it.severity is Severity.STOPS}
    # Either of them would do.
    assert stopping == {str(writer.path(6)), str(writer.path(7, "4.merged"))}


def test_a_merged_delta_of_an_attempt_that_lost_is_unreferenced(writer: StateWriter) -> None:
    path = writer.path(9).with_name("9_loser.8.merged")
    shutil.copy(writer.path(7, "4.merged"), path)
    report = check(writer)
    assert of(report) == {(path.name, Kind.UNREFERENCED, Severity.HARMLESS)}
    assert report.ok


def test_a_merged_delta_of_a_batch_that_was_not_begun_is_unreferenced(writer: StateWriter) -> None:
    path = writer.path(12).with_name("12_a.9.merged")
    shutil.copy(writer.path(7, "4.merged"), path)
    (finding,) = check(writer).findings
    assert finding.kind is Kind.UNREFERENCED
    assert "version 12" in finding.message


def test_a_lineage_that_leaves_a_version_open_contradicts_no_commit(writer: StateWriter) -> None:
    for partition in (0, 1):
        writer.merge(7, partition)
    writer.batch({1: 1})
    # The log has lost batch 8. Version 8, of batch 7, is not in the lineage of version 10.
    (writer.fake.root / "commits/8").unlink()
    messages = [it.message for it in check(writer).findings]
    assert any("batch 9 follows batch 7" in it for it in messages)
    assert not any("it builds on version" in it for it in messages)


@pytest.mark.parametrize("retained", [False, True], ids=["all", "retained"])
@pytest.mark.parametrize("seed", range(20))
def test_random_damage_against_what_can_be_read(
    writer: StateWriter,
    seed: int,
    retained: bool,  # noqa: FBT001
) -> None:
    """A batch is good if all of its rows can be read, which is another way through the files."""
    chance = random.Random(seed)  # noqa: S311 - damage, not secrets
    for partition, bases in enumerate([[8, 4, 2], [7]]):
        for base in bases:
            writer.merge(base, partition, named=False)
    if retained:
        writer.retain(7)
    files = sorted(it for it in (writer.fake.root / "state/0").glob("[01]/*") if it.is_file())
    for path in chance.sample(files, chance.randint(1, 5)):
        chance.choice((flip, Path.unlink))(path)

    def is_readable(batch: int) -> bool:
        try:
            keyfold.open_checkpoint(writer.fake.root)[0].scan(batch=batch).to_arrow()
        except KeyfoldError:
            return False
        return True

    batches = range(6 if retained else 0, 9)
    good = [batch for batch in batches if is_readable(batch)]
    found = check(writer)
    assert found.verdict.can_start == (8 in good)
    # Spark needs the offsets of the batch before the one that it goes back to.
    to_go_back_to = [it for it in good if it != 6 or not retained]
    assert found.verdict.newest_good == max(to_go_back_to, default=None)
    assert {it.severity for it in found.findings} <= (
        {Severity.STOPS, Severity.LOSES, Severity.HARMLESS}
        if len(good) < len(batches)
        else {Severity.HARMLESS}
    )


def test_what_another_executor_has_merged_before_the_oldest_version_is_no_damage(
    fake: FakeCheckpoint,
) -> None:
    """Its lineage names 4.2, which retention has deleted by that of the other: 8.5, 5.2, 2."""
    writer = StateWriter(fake, partitions=1)
    for number in range(1, 10):
        writer.batch({number: number, 0: number}, snapshots=number == 2)
        if number == 4:
            writer.merge(2, 0)
        for base in {5: [2], 8: [4, 5]}.get(number, []):
            writer.merge(base, 0, named=False)
    for path in [*map(writer.path, range(1, 8)), writer.path(4, "2.merged")]:
        path.unlink()
    # Spark's log has all batches still, and version 2 can be read.
    report = check(writer, deep=True)
    assert {(it.kind, Path(it.path).name.split("_")[0]) for it in report.findings} == {
        (Kind.EXPIRED, version) for version in ("1", "3", "4", "5", "6", "7")
    }
