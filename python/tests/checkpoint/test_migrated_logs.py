"""Batches from before a migration, in Spark's logs alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import keyfold
from keyfold.errors import OtherProviderError
from keyfold.settings import PROVIDER_CLASS
from keyfold.spark_log.batch import find_batch
from keyfold.spark_log.migrated import Earlier, earlier_batches
from keyfold.storage.storage import Storage
from kit.fake_checkpoint import FakeCheckpoint
from kit.providers import HDFS
from kit.state_writer import StateWriter


def logs(fake: FakeCheckpoint, others: range, own: range) -> Storage:
    fake.provider = HDFS
    fake.run(*others)
    fake.provider = PROVIDER_CLASS
    fake.run(*own)
    return Storage(fake.root)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_where_the_migration_was(fake: FakeCheckpoint, count: int) -> None:
    for own in (1, 2, 5):
        storage = logs(fake, range(3, 3 + count), range(3 + count, 3 + count + own))
        assert earlier_batches(storage) == Earlier(HDFS, 3, 2 + count)
        with pytest.raises(OtherProviderError, match=f"Choose batch {3 + count} or a later"):
            find_batch(storage, 2 + count)
        assert find_batch(storage, 3 + count).number == 3 + count


def test_a_batch_that_was_not_committed_is_none_of_them(fake: FakeCheckpoint) -> None:
    # A clone has the offsets of the batch before, for Spark.
    storage = logs(fake, range(4, 5), range(5, 6))
    (fake.root / "commits" / "4").unlink()
    assert earlier_batches(storage) is None


def test_one_provider_all_along(fake: FakeCheckpoint) -> None:
    assert earlier_batches(logs(fake, range(0), range(3))) is None
    assert earlier_batches(Storage(fake.root / "nothing")) is None


def test_files_of_the_same_names_are_not_counted(fake: FakeCheckpoint) -> None:
    logs(fake, range(3), range(0))
    for version in (1, 2, 3):
        for partition in (0, 1):
            fake.write(f"state/0/{partition}/{version}.delta", b"LZ4Block" * 20)
    writer = StateWriter(fake, ids=False)
    writer.batch_number = 2
    writer.batch({key: key for key in range(10)}, snapshots=True)
    for partition in (0, 1):
        # Its lineage begins with what a migration has written.
        writer.path(4, "snapshot", partition).write_bytes(
            writer.file(4, "snapshot", partition, own_rows(writer, partition), lineage=[])
        )
        writer.path(4, "delta", partition).unlink()
    opened = keyfold.open_checkpoint(fake.root)
    described = opened.describe()
    (operator,) = described.operators
    (store,) = operator.stores
    assert (described.problems, operator.oldest_loadable_version) == ((), 4)
    assert (store.deltas, store.snapshots) == (0, 2)
    assert "batches 0 to 2 are of HDFSBackedStateStoreProvider" in str(described)
    report = opened.fsck(deep=True)
    assert (report.findings, report.batches, report.files) == ((), 1, 2)
    assert opened["agg"].count() == 10


def own_rows(writer: StateWriter, partition: int) -> list[dict[str, object]]:
    return [writer._put(key) for key in writer.rows if writer.owner(key) == partition]


@pytest.mark.parametrize("name", ["1.zip", "2_a-b.zip", "3.changelog", "4_a_b.changelog", "SSTs/x"])
def test_files_of_rocksdb_are_kept_while_a_batch_is_its(fake: FakeCheckpoint, name: str) -> None:
    writer = StateWriter(fake)
    writer.batch({1: 1})
    path = fake.write(f"state/0/1/{name}", b"?")
    (finding,) = keyfold.open_checkpoint(fake.root).fsck().findings
    assert path.is_relative_to(Path(finding.path))
    assert "RocksDB" in finding.message

    fake.provider = HDFS
    fake.run(0)
    fake.provider = PROVIDER_CLASS
    writer.batch({2: 2}, snapshots=True)
    kinds = {it.kind.value for it in keyfold.open_checkpoint(fake.root).fsck().findings}
    assert "unreferenced" not in kinds
