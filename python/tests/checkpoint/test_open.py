from __future__ import annotations

from pathlib import Path

import pytest

import keyfold
from keyfold.errors import (
    CheckpointDamagedError,
    InvalidArgumentError,
    NotACheckpointError,
    OtherProviderError,
)
from keyfold.settings import PROVIDER_CLASS
from keyfold.spark_log.logs import OperatorMetadata, StoreMetadata, read_commit
from keyfold.storage.storage import Storage
from kit.fake_checkpoint import QUERY, FakeCheckpoint
from kit.providers import HDFS


def test_what_the_logs_say(fake: FakeCheckpoint) -> None:
    fake.run(0, 1)
    fake.start(2)
    fake.operator(0, "symmetricHashJoin", ("left-a", "right-a"))
    fake.operator(1, "globalLimit", partitions=1)
    opened = keyfold.open_checkpoint(fake.root)
    assert opened.query_id == QUERY
    assert opened.last_batch == 1
    assert opened.provider == PROVIDER_CLASS
    assert tuple(it.metadata for it in opened.operators) == (
        OperatorMetadata(
            0, "symmetricHashJoin", (StoreMetadata("left-a", 2), StoreMetadata("right-a", 2))
        ),
        OperatorMetadata(1, "globalLimit", (StoreMetadata("default", 1),)),
    )
    fake.commit(2)
    assert opened.last_batch == 2


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}"])
def test_paths_and_uris(fake: FakeCheckpoint, form: str) -> None:
    assert keyfold.open_checkpoint(form.format(fake.root)).query_id == QUERY


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_both_formats_of_offsets(fake: FakeCheckpoint, version: str) -> None:
    fake.start(0, version=version)
    assert keyfold.open_checkpoint(fake.root).provider == PROVIDER_CLASS


@pytest.mark.parametrize("version", ["v2", "v3"])
def test_ids_of_newer_commits(fake: FakeCheckpoint, version: str) -> None:
    fake.write(
        "commits/4",
        f'{version}\n{{"nextBatchWatermarkMs":0,"stateUniqueIds":{{"1":[["a","b"],["c","d"]]}},'
        '"sinkMetadataMap":{}}',
    )
    commit = read_commit(Storage(fake.root), 4)
    assert [commit.id_of(1, 1, 0), commit.id_of(1, 0, 1)] == ["c", "b"]
    assert [commit.id_of(0, 0, 0), commit.id_of(1, 2, 0), commit.id_of(1, 0, 2)] == ["", "", ""]


def test_commit_without_ids(fake: FakeCheckpoint) -> None:
    fake.write("commits/0", "v1\n{}")
    assert read_commit(Storage(fake.root), 0).ids == {}


def test_newest_metadata_that_is_committed_counts(fake: FakeCheckpoint) -> None:
    fake.run(0, 1, 2)
    fake.operator_v2(0, partitions=2)
    fake.operator_v2(2, partitions=4)
    fake.operator_v2(3, partitions=8)
    (operator,) = keyfold.open_checkpoint(fake.root).operators
    assert operator.metadata.stores[0].partitions == 4


def test_files_of_others_in_the_logs_are_ignored(fake: FakeCheckpoint) -> None:
    fake.run(0)
    fake.write("commits/.1.tmp", "")
    fake.write("commits/1.crc", "")
    fake.write("offsets/.0.crc", "")
    assert keyfold.open_checkpoint(fake.root).last_batch == 0


def test_half_written_commit_gives_way_to_the_one_before(fake: FakeCheckpoint) -> None:
    fake.run(0)
    fake.start(1)
    fake.write("commits/1", "")
    assert keyfold.open_checkpoint(fake.root).last_batch == 0


def test_other_provider_is_named(fake: FakeCheckpoint) -> None:
    fake.provider = HDFS
    fake.run(0)
    with pytest.raises(OtherProviderError, match=HDFS):
        keyfold.open_checkpoint(fake.root)


@pytest.mark.parametrize("content", [None, "", "[]", "{}", "no json"])
def test_folder_without_a_query_is_no_checkpoint(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "metadata").write_text(content, encoding="utf-8")
    with pytest.raises(NotACheckpointError, match="checkpointLocation"):
        keyfold.open_checkpoint(tmp_path)


def test_missing_folder_is_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(NotACheckpointError, match="nowhere"):
        keyfold.open_checkpoint(tmp_path / "nowhere")


def test_unknown_file_system_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="carrier://pigeon"):
        keyfold.open_checkpoint("carrier://pigeon")


@pytest.mark.parametrize(
    "content", ["v9\n{}", "v1\nno json", "v1\n[]", 'v1\n{"stateStoreInfo":[{}]}', ""]
)
def test_damaged_operator_metadata_is_named(fake: FakeCheckpoint, content: str) -> None:
    fake.write("state/0/_metadata/metadata", content)
    with pytest.raises(CheckpointDamagedError, match="state/0/_metadata/metadata"):
        _ = keyfold.open_checkpoint(fake.root).operators


@pytest.mark.parametrize("ids", ["[1]", '{"x":[]}', '{"0":7}'])
def test_damaged_commit_is_named(fake: FakeCheckpoint, ids: str) -> None:
    fake.write("commits/0", f'v2\n{{"stateUniqueIds":{ids}}}')
    with pytest.raises(CheckpointDamagedError, match="commits/0"):
        read_commit(Storage(fake.root), 0)
