"""What the readers of the two logs take in: each form of a checkpoint, and damaged files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from keyfold.errors import InvalidArgumentError, StorageError, TableDamagedError
from keyfold.sinks.delta import delta_log
from keyfold.sinks.iceberg import iceberg_log
from keyfold.storage.ranged_file import RangedFile
from keyfold.storage.storage import Storage
from kit.tables import DeltaTable, IcebergTable

UUID = "80a083e8-7026-4e79-81be-64bd76c43a11"


@pytest.fixture
def delta(tmp_path: Path) -> DeltaTable:
    """Batches of two queries before its newest checkpoint, and one of them after it."""
    table = DeltaTable(tmp_path / "delta")
    table.batches("a", 0, 1)
    table.batches("b", 5)
    return table


def applications(table: DeltaTable) -> dict[str, int]:
    log = delta_log(Storage(table.root))
    assert log is not None
    return log.applications()


def snapshots(table: IcebergTable) -> list[int]:
    log = iceberg_log(Storage(table.root))
    assert log is not None
    return [it.version for it in log.history() if not it.taken_back]


@pytest.mark.parametrize("parts", [1, 3])
def test_ids_of_versions_that_are_deleted_are_in_the_checkpoint(
    delta: DeltaTable, parts: int
) -> None:
    delta.checkpoint({"a": 1, "b": 5}, parts)
    delta.batches("a", 2)
    delta.forget(0, 1, 2)
    assert applications(delta) == {"a": 2, "b": 5}


def test_a_checkpoint_of_json_that_breaks_off_in_a_file_s_line_is_named(delta: DeltaTable) -> None:
    file = delta.log / f"{2:020}.checkpoint.{UUID}.json"
    file.write_text('{"checkpointMetadata": {"version": 2}}\n{"add":{"path":"part-0')
    delta.batches("a", 2)
    delta.forget(0, 1, 2)
    with pytest.raises(TableDamagedError, match=file.name):
        applications(delta)


def test_a_checkpoint_of_json_has_them_too(delta: DeltaTable) -> None:
    # Whatever it says of data files: statistics may have numbers of any length.
    data = {"add": {"path": "p", "stats_parsed": {"maxValues": {"d": 10**20}}}}
    actions = [{"checkpointMetadata": {"version": 2}}, {"txn": {"appId": "b", "version": 5}}, data]
    lines = "\n".join(map(json.dumps, actions))
    (delta.log / f"{2:020}.checkpoint.{UUID}.json").write_text(lines)
    delta.batches("a", 2)
    delta.forget(0, 1, 2)
    assert applications(delta) == {"a": 2, "b": 5}


def test_a_checkpoint_that_lacks_a_part_does_not_count(delta: DeltaTable) -> None:
    first, *_ = delta.checkpoint({"a": 99}, 2)
    first.unlink()
    assert applications(delta) == {"a": 1, "b": 5}


def test_other_files_and_lines_are_no_commits(delta: DeltaTable) -> None:
    (delta.log / f"{3:020}.crc").write_text("{}")
    (delta.log / f"{0:020}.{2:020}.compacted.json").write_text("no commit")
    (delta.log / "_last_checkpoint").write_text("{}")
    with delta.path(2).open("a") as file:
        file.write('\n{"add":{"path":"a","stats":"no \\u0000 JSON matters here"}}\n')
    assert applications(delta) == {"a": 1, "b": 5}


@pytest.mark.parametrize("line", ["{", "[]", '{"txn":{"appId":"a"}}', '{"txn":{"version":null}}'])
def test_a_damaged_commit_is_named(delta: DeltaTable, line: str) -> None:
    delta.path(1).write_text(line)
    with pytest.raises(TableDamagedError, match=delta.path(1).name):
        applications(delta)


def test_a_damaged_checkpoint_is_named(delta: DeltaTable) -> None:
    [file] = delta.checkpoint({})
    file.write_bytes(b"PAR1" + bytes(20) + b"PAR1")
    with pytest.raises(TableDamagedError, match=file.name):
        applications(delta)


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"current-snapshot-id":1,"snapshots":[{}]}', '{"snapshots":7}', "\udcff"],
)
def test_damaged_metadata_are_named(tmp_path: Path, content: str) -> None:
    table = IcebergTable(tmp_path / "iceberg")
    file = table.write()
    file.write_text(content, errors="surrogateescape")
    with pytest.raises(TableDamagedError, match=file.name):
        snapshots(table)


def test_metadata_that_are_no_gzip_are_named(tmp_path: Path) -> None:
    table = IcebergTable(tmp_path / "iceberg")
    file = table.write("v{}.gz.metadata.json")
    file.write_bytes(b"{}")
    with pytest.raises(TableDamagedError, match=file.name):
        snapshots(table)


def test_snapshots_that_name_each_other_as_parents_end(tmp_path: Path) -> None:
    table = IcebergTable(tmp_path / "iceberg")
    table.batches("a", 0, 1)
    table.snapshots[0]["parent-snapshot-id"] = 1001
    table.write()
    assert snapshots(table) == [1001, 1000]


def test_of_a_checkpoint_only_the_ids_are_read(
    delta: DeltaTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its other columns are as large as the list of the table's files."""
    [file] = delta.checkpoint({"a": 1, "b": 5}, adds=20_000)
    read: list[int] = []
    source = RangedFile.read

    def counted(self: RangedFile, size: int = -1) -> bytes:
        found = source(self, size)
        read.append(len(found))
        return found

    monkeypatch.setattr(RangedFile, "read", counted)
    assert applications(delta) == {"a": 1, "b": 5}
    assert 0 < sum(read) < 200_000 < file.stat().st_size


def test_a_storage_that_fails_is_not_taken_for_a_damaged_checkpoint(
    delta: DeltaTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    delta.checkpoint({})

    def fails(self: RangedFile, _: int = -1) -> bytes:
        self.failed = OSError("the network is down")
        raise self.failed

    monkeypatch.setattr(RangedFile, "read", fails)
    with pytest.raises(StorageError, match="the network is down"):
        applications(delta)


@pytest.mark.parametrize("feature", ["catalogManaged", "catalogOwned-preview"])
@pytest.mark.parametrize("cleaned", [False, True])
def test_a_table_whose_newest_commits_a_catalog_has_is_refused(
    delta: DeltaTable, feature: str, *, cleaned: bool
) -> None:
    delta.features("deletionVectors", feature)
    if cleaned:
        delta.checkpoint({"a": 1, "b": 5})
        delta.batches("a", 2)
        delta.forget(0, 1, 2, 3)
    with pytest.raises(InvalidArgumentError, match=f"{feature}.*DESCRIBE HISTORY"):
        applications(delta)


def test_a_feature_that_was_dropped_does_not_count(delta: DeltaTable) -> None:
    delta.features("catalogManaged")
    delta.features("columnMapping", "v2Checkpoint", "inCommitTimestamp")
    assert applications(delta) == {"a": 1, "b": 5}


def test_a_table_of_a_folder_is_the_one_of_its_hint(tmp_path: Path) -> None:
    """Iceberg takes the hint, and each metadata after it."""
    table = IcebergTable(tmp_path / "iceberg")
    for number in range(4):
        table.batches("a", number)
        table.write()
    table.states = 8
    table.batches("b", 0)
    table.write()
    hint = table.root / "metadata/version-hint.text"
    for said, newest in (("2", 1003), ("9", 1004), ("7", 1004), ("", 1004)):
        hint.write_text(said)
        assert snapshots(table)[0] == newest


def test_metadata_of_a_commit_to_a_folder_that_is_not_done_do_not_count(tmp_path: Path) -> None:
    table = IcebergTable(tmp_path / "iceberg")
    table.batches("a", 0)
    table.write()
    table.batches("a", 1)
    table.write("46582190-1234-4e79-81be-64bd76c43a11.metadata.json")
    assert snapshots(table) == [1000]


def test_a_table_that_is_made_anew_in_the_same_folder_is_the_newer_one(tmp_path: Path) -> None:
    table = IcebergTable(tmp_path / "iceberg")
    table.batches("a", 0, 1, 2)
    table.states = 7
    former = table.write("{:05}-uuid.metadata.json")
    table.snapshots, table.current, table.states = table.snapshots[:1], 1000, -1
    os.utime(former, (1, 1))
    table.write("{:05}-uuid.metadata.json")
    assert snapshots(table) == [1000]


def test_metadata_that_were_copied_in_any_order_count_by_what_they_say(tmp_path: Path) -> None:
    table = IcebergTable(tmp_path / "iceberg")
    table.batches("a", 0)
    table.write("{:05}-uuid.metadata.json")
    table.batches("a", 1)
    newest = table.write("{:05}-uuid.metadata.json")
    os.utime(newest, (1, 1))
    assert snapshots(table) == [1001, 1000]
