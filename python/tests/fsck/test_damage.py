"""Each kind of damage, planted in a healthy checkpoint, is found for what it is."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable
from typing import Any

import pytest

import keyfold
from keyfold.errors import PartitionsMismatchError
from keyfold.fsck.finding import Kind
from keyfold.fsck.report import FsckReport
from kit.fake_checkpoint import FakeCheckpoint
from kit.golden.spec import bigint, link, put
from kit.state_writer import StateWriter, hash_of


@pytest.fixture
def writer(fake: FakeCheckpoint) -> StateWriter:
    found = StateWriter(fake)
    found.batch({key: key for key in range(40)})
    found.batch(dict.fromkeys(range(0, 40, 5)))
    found.batch({1: 11, 2: 22}, snapshots=True)
    found.batch({3: 33})
    found.batch({4: 44})
    return found


def check(writer: StateWriter, *, deep: bool = False) -> FsckReport:
    return keyfold.open_checkpoint(writer.fake.root).fsck(deep=deep)


def lineages(report: FsckReport) -> list[str]:
    return [it.message for it in report.findings if "builds on version" in it.message]


def kinds(report: FsckReport) -> set[Kind]:
    return {finding.kind for finding in report.findings}


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("ids", [False, True])
def test_healthy(fake: FakeCheckpoint, deep: bool, ids: bool) -> None:  # noqa: FBT001
    writer = StateWriter(fake, ids=ids)
    for number in range(6):
        writer.batch(dict.fromkeys(range(number, 30), number), snapshots=number == 3)
    report = check(writer, deep=deep)
    assert report.findings == ()
    assert report.ok
    assert (report.batches, report.files) == (6, 14)


def test_healthy_after_retention(writer: StateWriter) -> None:
    for version in (1, 2):
        for partition in (0, 1):
            writer.path(version, "delta", partition).unlink()
        (writer.fake.root / f"commits/{version - 1}").unlink()
        (writer.fake.root / f"offsets/{version - 1}").unlink()
    assert check(writer, deep=True).findings == ()


def test_healthy_after_a_driver_went_on_from_what_was_redistributed(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake)
    for number in range(4):
        writer.batch({number: number, number + 10: number})
    rows = [put(hash_of(k), bigint(k), bigint(*v)) for k, v in writer.rows.items()]
    rows = [it for it in rows if it["hash"] % 2 == 0]
    replaced, again = writer.unique(0, 4), "again~id-4-0"
    content = writer.file(4, "snapshot", 0, rows, lineage=[], id=again)
    writer.path(4).with_name(f"4_{again}.snapshot").write_bytes(content)
    writer.batch({4: 4})
    fake.commit(3, {0: [[again], [writer.unique(1, 4)]]})
    assert check(writer, deep=True).findings == ()
    # The driver's batch changed nothing in this partition.
    log = {0: [[f"=4_{replaced}"], [writer.unique(1, 5)]]}
    writer.path(5).rename(writer.path(5).with_name("kept"))
    fake.commit(4, log)
    assert not lineages(check(writer))
    writer.path(5).with_name("kept").rename(writer.path(5))
    fake.commit(4, {0: [[writer.unique(0, 5)], [writer.unique(1, 5)]]})
    fake.commit(3, {0: [[replaced.replace("4-0", "4-1")], [writer.unique(1, 4)]]})
    assert lineages(check(writer))


def test_batches_that_retention_has_deleted_before_spark_has_deleted_their_log_entries(
    writer: StateWriter,
) -> None:
    for version in (1, 2):
        for partition in (0, 1):
            writer.path(version, "delta", partition).unlink()
    report = check(writer, deep=True)
    assert kinds(report) == {Kind.EXPIRED}
    assert report.ok
    assert len(report.findings) == 4
    # Retention never deletes what the last batch needs, or the one before.
    for name in [*writer.path(3).parent.glob("[3-4]_*"), writer.path(5)]:
        name.unlink()
    writer.path(5, "snapshot").write_bytes(writer.file(5, "snapshot", 0, [], lineage=[]))
    assert Kind.DAMAGED in kinds(check(writer))


def test_an_attempt_that_lost_does_not_make_the_last_batch_an_expired_one(
    fake: FakeCheckpoint,
) -> None:
    writer = StateWriter(fake, sparse=True)
    writer.batch({key: key for key in range(40)})
    for value in range(4):
        writer.batch({own_key(writer, 1): value})
    for kind in ("delta", "snapshot"):
        other = fake.root / f"state/0/0/4_attempt.{kind}"
        other.write_bytes(writer.file(4, kind, 0, [], id="attempt", lineage=[]))
    writer.path(1).unlink()
    assert not check(writer).ok


def test_a_batch_that_is_needed_is_damaged_whatever_retention_has_deleted(
    writer: StateWriter,
) -> None:
    for version in (1, 2):
        for partition in (0, 1):
            writer.path(version, "delta", partition).unlink()
    writer.path(4, "delta", 0).unlink()
    assert Kind.DAMAGED in kinds(check(writer, deep=True))


@pytest.mark.parametrize("gone", [(1,), (4,), (0, 1, 2, 3, 4)])
def test_committed_batches_that_the_offset_log_lacks(
    writer: StateWriter, gone: tuple[int, ...]
) -> None:
    for batch in gone:
        (writer.fake.root / f"offsets/{batch}").unlink()
    report = check(writer)
    assert kinds(report) == {Kind.DAMAGED}
    # Spark deletes old batches there first, and starts with the last two.
    named = gone[-2:] if len(gone) > 1 else gone
    assert [it.path.rpartition("/")[2] for it in report.findings] == [str(it) for it in named]


def test_healthy_while_old_batches_are_deleted(writer: StateWriter) -> None:
    for batch in (0, 1):
        (writer.fake.root / f"offsets/{batch}").unlink()
    assert check(writer).findings == ()


def test_healthy_while_the_first_batch_is_written(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake)
    writer.batch({key: key for key in range(40)})
    (fake.root / "commits/0").unlink()
    assert check(writer).findings == ()


def test_healthy_while_a_batch_is_written(writer: StateWriter) -> None:
    writer.fake.start(5)
    writer.path(6).write_bytes(writer.file(6, "delta", 0, []))
    assert check(writer).findings == ()


def flip(path: Any, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 0x55
    path.write_bytes(content)


def entry(key: int, value: int) -> dict[str, Any]:
    return put(hash_of(key), bigint(key), bigint(value))


def own_key(writer: StateWriter, partition: int) -> int:
    return next(key for key in range(1000, 2000) if writer.owner(key) == partition)


def rewrite(writer: StateWriter, version: int = 4, partition: int = 0, **other: Any) -> None:
    """The delta of a version again, with something in its footer that is not so."""
    lineage = [link(3, "snapshot", writer.unique(partition, 3))]
    own = {"lineage": lineage, "rows": other.pop("rows", rows_after(writer, version, partition))}
    entries = other.pop("entries", changed(writer, version, partition))
    content = writer.file(version, "delta", partition, entries, **(own | other))
    writer.path(version, "delta", partition).write_bytes(content)


def rows_after(writer: StateWriter, version: int, partition: int) -> dict[int, list[int]]:
    rows = {k: v for k, v in writer.rows.items() if writer.owner(k) == partition}
    if version == 4 and 4 in rows:
        rows[4] = [4]
    return rows


def changed(writer: StateWriter, version: int, partition: int) -> list[dict[str, Any]]:
    key, value = {4: (3, 33), 5: (4, 44)}[version]
    return [entry(key, value)] if writer.owner(key) == partition else []


def damage_footer(writer: StateWriter) -> None:
    content = writer.path(4).read_bytes()
    at = content.index(b"default", 16)
    writer.path(4).write_bytes(content[:at] + b"DEFAULT" + content[at + 7 :])


def wrong_partition(writer: StateWriter) -> None:
    stranger = entry(own_key(writer, 1), 1)
    rewrite(writer, entries=[*changed(writer, 4, 0), stranger])


def wrong_hash(writer: StateWriter) -> None:
    key = own_key(writer, 0)
    other = next(it for it in range(key + 1, 3000) if writer.owner(it) == 0)
    rewrite(writer, entries=[put(hash_of(other), bigint(key), bigint(1))])


def row_too_short(writer: StateWriter) -> None:
    key = own_key(writer, 0)
    rewrite(writer, entries=[put(hash_of(key), bigint(key), "00" * 8)])


def wrong_counts(writer: StateWriter) -> None:
    rewrite(writer, version=5, rows={1: [1]}, lineage=writer.lineage[0][1:])


def foreign(writer: StateWriter) -> None:
    writer.path(4).write_bytes(b"LZ4Block" * 20)


def newer(writer: StateWriter) -> None:
    content = bytearray(writer.path(4).read_bytes())
    content[4] = content[-14] = 2
    writer.path(4).write_bytes(content)


def gone_commit(writer: StateWriter) -> None:
    (writer.fake.root / "commits/2").unlink()


def other_id(writer: StateWriter) -> None:
    rewrite(writer, lineage=[link(3, "snapshot", "somebody-else")])


def loser(writer: StateWriter) -> None:
    path = writer.path(4)
    shutil.copy(path, path.with_name("4_loser.delta"))


def moved_file(writer: StateWriter) -> None:
    shutil.copy(writer.path(4, "delta", 1), writer.path(4, "delta", 1).with_name("x"))
    content = writer.file(4, "delta", 1, [], lineage=[link(3, "snapshot", "id-3-0")], id="id-4-0")
    writer.path(4, "delta", 1).with_name("x").unlink()
    writer.path(4, "delta", 0).write_bytes(content)


def stale_operator(writer: StateWriter) -> None:
    writer.fake.write("state/7/0/1.delta", b"")


def stale_partition(writer: StateWriter) -> None:
    writer.fake.write("state/0/5/1_a.delta", b"")


def unknown_file(writer: StateWriter) -> None:
    writer.fake.write("state/0/1/notes.txt", b"hello")


TEMPORARY = "5f2b8a1e-93c4-4d0a-8b57-0c6f3e7d2a94"
UNFINISHED = (
    f".metadata.{TEMPORARY}.tmp",
    f"offsets/.5.{TEMPORARY}.tmp",
    f"commits/.5.{TEMPORARY}.tmp",
    f"sources/0/.0.{TEMPORARY}.tmp",
    f"keyfold/.rescale-5-a.plan.{TEMPORARY}.tmp",
    f"state/0/_metadata/.metadata.{TEMPORARY}.tmp",
    f"state/0/0/.5_a.delta.{TEMPORARY}.TID12.tmp",
    f"state/0/1/.3.snapshot.{TEMPORARY}.tmp",
)


def unfinished(writer: StateWriter) -> None:
    for path in UNFINISHED:
        writer.fake.write(path, b"KFLD")


def not_begun(writer: StateWriter) -> None:
    writer.path(9).write_bytes(writer.path(4).read_bytes())


def metadata(path: str, content: str = "?") -> Callable[[StateWriter], None]:
    return lambda writer: writer.fake.write(path, content) and None


# What is said about it, whether only a deep check finds it, and how it is planted.
PLANTED: dict[str, tuple[Kind, str, bool, Callable[[StateWriter], Any]]] = {
    "missing head": (Kind.DAMAGED, "needs it", False, lambda it: it.path(5).unlink()),
    "missing delta below": (Kind.DAMAGED, "need it", False, lambda it: it.path(4).unlink()),
    "missing delta beside its snapshot": (
        Kind.DAMAGED, "it is missing; its snapshot", False, lambda it: it.path(3).unlink(),
    ),
    "missing snapshot": (
        Kind.DAMAGED, "was built on it", False, lambda it: it.path(3, "snapshot").unlink(),
    ),
    "missing first delta": (Kind.DAMAGED, "need it", False, lambda it: it.path(1).unlink()),
    "truncated": (
        Kind.DAMAGED,
        "cut off",
        False,
        lambda it: it.path(4).write_bytes(it.path(4).read_bytes()[:-9]),
    ),
    "emptied": (Kind.DAMAGED, "0 bytes", False, lambda it: it.path(4).write_bytes(b"")),
    "flipped bit in a block": (Kind.DAMAGED, "checksum", False, lambda it: flip(it.path(1), 60)),
    "flipped bit in a snapshot": (
        Kind.DAMAGED, "checksum", False, lambda it: flip(it.path(3, "snapshot"), 60),
    ),
    "flipped bit in a footer": (Kind.DAMAGED, "checksum", False, damage_footer),
    "row of another partition": (
        Kind.WRONG_ROWS, "belong to partition 1", False, wrong_partition,
    ),
    "file of another partition": (Kind.DAMAGED, "operator 0 partition 1", False, moved_file),
    "other number of key groups": (
        Kind.DAMAGED, "24 key groups", False, lambda it: rewrite(it, keyGroups=24, entries=[]),
    ),
    "other number of partitions": (
        Kind.DAMAGED, "for 4 partitions", False, lambda it: rewrite(it, partitions=4, entries=[]),
    ),
    "lineage of another attempt": (Kind.DAMAGED, "'somebody-else'", False, other_id),
    "gap in the commit log": (Kind.DAMAGED, "batch 3 follows batch 1", False, gone_commit),
    "file of another program": (Kind.DAMAGED, "not written by Keyfold", False, foreign),
    "newer format": (Kind.NEWER_FORMAT, "format version 2", False, newer),
    "operator metadata": (
        Kind.DAMAGED, "Spark writes it", False, metadata("state/0/_metadata/metadata"),
    ),
    "state schema": (Kind.DAMAGED, "schema", False, metadata("state/0/0/_metadata/schema")),
    "commit": (Kind.DAMAGED, "Cannot understand", False, metadata("commits/1")),
    "offsets": (Kind.DAMAGED, "Cannot understand", False, metadata("offsets/1")),
    "attempt that lost": (Kind.UNREFERENCED, "an attempt", False, loser),
    "folder of no operator": (Kind.UNREFERENCED, "no such operator", False, stale_operator),
    "folder of no partition": (Kind.UNREFERENCED, "no partition 5", False, stale_partition),
    "file of nobody": (Kind.UNREFERENCED, "neither Keyfold nor Spark", False, unknown_file),
    "files of writers that were killed": (Kind.UNREFERENCED, "killed", False, unfinished),
    "version that no batch makes": (Kind.UNREFERENCED, "version 9", False, not_begun),
    "hash of another key": (Kind.WRONG_ROWS, "another hash", True, wrong_hash),
    "row that is too short": (Kind.WRONG_ROWS, "do not fit", True, row_too_short),
    "rows that are not counted": (Kind.WRONG_ROWS, "its head says", True, wrong_counts),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_planted(writer: StateWriter, name: str) -> None:
    expected, said, deep, plant = PLANTED[name]
    plant(writer)
    report = check(writer, deep=deep)
    assert kinds(report) == {expected}
    assert all(said in finding.message for finding in report.findings)
    assert report.ok == (expected is Kind.UNREFERENCED)
    json.dumps(report.to_dict())
    assert all(str(writer.fake.root) in finding.path for finding in report.findings)


@pytest.mark.parametrize("replaced", [False, True])
def test_snapshot_of_a_version_that_was_made_again(fake: FakeCheckpoint, replaced: bool) -> None:  # noqa: FBT001
    writer = StateWriter(fake, ids=False)
    writer.batch({key: key for key in range(40)})
    writer.batch({1: 11, 2: 22}, snapshots=True)
    rows = dict(writer.rows) if not replaced else {key: [-1] for key in range(40)}
    for partition in (0, 1):
        delta = writer.path(2, "delta", partition).read_bytes()
        (checksum,) = struct.unpack_from("<I", delta, len(delta) - 8)
        head = {"length": len(delta), "checksum": checksum ^ replaced}
        own = {key: row for key, row in rows.items() if writer.owner(key) == partition}
        entries = [entry(key, row[0]) for key, row in own.items()]
        lineage = [link(1, "delta")]
        content = writer.file(
            2, "snapshot", partition, entries, rows=own, head=head, lineage=lineage
        )
        writer.path(2, "snapshot", partition).write_bytes(content)
    writer.batch({3: 33})
    found = keyfold.open_checkpoint(fake.root)[0].scan().to_pylist()
    assert {it["key"]["id"]: [it["value"]["total"]] for it in found} == writer.rows
    report = check(writer, deep=True)
    assert kinds(report) == ({Kind.EXPIRED} if replaced else set())
    assert report.ok
    assert not any(it.kind is Kind.UNREFERENCED for it in report.findings)


def test_a_number_of_partitions_that_no_query_has_is_named_once(writer: StateWriter) -> None:
    offsets = writer.fake.root / "offsets/4"
    said = offsets.read_text().replace('shuffle.partitions": "2"', 'shuffle.partitions": "100000"')
    assert "100000" in said
    offsets.write_text(said)
    report = check(writer)
    (finding,) = [it for it in report.findings if it.path == str(offsets)]
    assert finding.kind is Kind.DAMAGED
    assert (
        "has 100,000 partitions by offsets/4, and operator 0 has folders of only 2."
        in finding.message
    )
    # One for each partition that was looked at.
    assert len(report.findings) < 1100
    with pytest.raises(PartitionsMismatchError):
        keyfold.open_checkpoint(writer.fake.root).describe()


def test_a_number_that_no_query_has_may_be_that_of_all_batches(writer: StateWriter) -> None:
    for offsets in (writer.fake.root / "offsets").iterdir():
        said = offsets.read_text().replace('partitions": "2"', 'partitions": "100000"')
        offsets.write_text(said)
    report = check(writer)
    assert str(writer.fake.root / "offsets/4") in {it.path for it in report.findings}
    assert len(report.findings) < 1100
    shutil.rmtree(writer.fake.root / "state/0/0")
    found = check(writer).findings
    assert any("state/0/0" in it.path for it in found)
    assert Kind.UNREFERENCED not in {it.kind for it in found}


def test_a_missing_delta_is_listed_fault_7(writer: StateWriter) -> None:
    lost = writer.path(4)
    lost.unlink()
    found = [it for it in check(writer).findings if it.is_damage]
    assert (Kind.DAMAGED, str(lost)) in {(it.kind, it.path) for it in found}


def test_files_are_named(writer: StateWriter) -> None:
    flip(writer.path(1, "delta", 1), 60)
    (finding,) = check(writer).findings
    assert finding.path == str(writer.path(1, "delta", 1))
    assert "checksum" in finding.message
    assert str(finding.path) in str(check(writer))


def test_what_writers_that_were_killed_have_left_is_named_and_nothing_else_that_is_hidden(
    writer: StateWriter,
) -> None:
    unfinished(writer)
    for path in ("state/0/0/.5_a.delta.crc", "offsets/.4.crc", "state/0/0/.notes.tmp"):
        writer.fake.write(path, b"")
    found = {it.path for it in check(writer).findings}
    assert found == {str(writer.fake.root / path) for path in UNFINISHED}
