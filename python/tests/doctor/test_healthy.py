"""Healthy checkpoints of all sizes: there is nothing to change, and the report says so."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any

import pytest

import keyfold
from keyfold.doctor import doctor, operator_state
from keyfold.doctor.exam import examine
from keyfold.doctor.retention import too_long
from keyfold.errors import BatchNotRetainedError
from keyfold.spark_log.batch import Batch, find_batch
from keyfold.storage.storage import Storage
from keyfold.text.units import size
from kit.fake_checkpoint import FakeCheckpoint
from kit.golden.spec import family
from kit.places import INTEGRATION_TESTS
from kit.state_writer import StateWriter
from python.tests.doctor.patient import GIB, MIB, Patient

HOUR_MS = 3_600_000
HEALTHY: dict[str, dict[str, Any]] = {
    "a count, a batch a minute": {},
    "a local trial": {
        "partitions": 2, "batches": 12, "interval_ms": 400, "took_ms": 380, "rows": 10,
    },
    "one partition": {"partitions": 1, "interval_ms": 200, "took_ms": 180, "rows": 100},
    "16 partitions for little state": {
        "partitions": 16, "interval_ms": 1000, "took_ms": 300, "rows": 50, "delta_bytes": 900,
    },
    "200 partitions with much state": {
        "partitions": 200, "batches": 20, "interval_ms": 10_000, "took_ms": 9_000,
        "rows": 4_000_000, "delta_bytes": 2 * MIB, "snapshot_bytes": 200 * MIB,
    },
    "200 partitions, each of which changes much": {
        "partitions": 200, "batches": 20, "interval_ms": 5000, "took_ms": 4000, "rows": 10_000,
        "delta_bytes": 100_000,
    },
    "200 partitions, a batch every ten minutes": {
        "partitions": 200, "batches": 20, "interval_ms": 600_000, "took_ms": 1600, "rows": 50,
        "delta_bytes": 400,
    },
    "200 tasks that compute for long": {
        "partitions": 200, "batches": 20, "interval_ms": 11_000, "took_ms": 10_000, "rows": 50,
        "delta_bytes": 400,
    },
    "10 million rows in each partition": {"rows": 10_000_000, "snapshot_bytes": 160 * MIB},
    "one partition has three times the state": {"rows": [3_000_000] * 3 + [9_000_000]},
    "few keys, all of them small": {"partitions": 24, "rows": [10_000] + [0] * 23},
    "ten batches a second, and maintenance each minute": {
        "partitions": 2, "batches": 900, "interval_ms": 100, "took_ms": 90, "rows": 1000,
        "delta_bytes": 400, "snapshot_every": 600, "snapshot_bytes": 8000,
    },
    "a state that changes fast, 100 batches kept": {
        "batches": 140, "last": 1000, "rows": 1_000_000, "delta_bytes": 8 * MIB,
        "snapshot_bytes": 16 * MIB, "snapshot_every": 10,
    },
    "many batches of a small state": {
        "batches": 400, "rows": 1000, "delta_bytes": 2000, "snapshot_bytes": 30_000,
    },
    "a snapshot for every ten deltas": {"snapshot_every": 10, "delta_bytes": 10_000},
    "snapshots for 128 MiB of deltas": {
        "with_ids": True, "snapshot_every": 4, "delta_bytes": 32 * MIB, "snapshot_bytes": 2 * GIB,
        "rows": 10_000_000,
    },
    "snapshots of a small state in each version": {"snapshot_every": 1, "snapshot_bytes": 100_000},
    "checkpoint format 1 without keys": {
        "with_ids": False, "snapshot_every": 10, "families": {"partitionKey": "constant"},
    },
    "a deduplication with a watermark": {
        "name": "dedupe", "rows": 400_000, "grown": lambda batch: (batch + 100) / 200,
        "whole_heads": [2, 51], "watermark": True,
    },
    "a deduplication whose keys come again": {
        "name": "dedupe", "rows": 400_000, "grown": lambda batch: 1 - 0.9 ** (batch + 1),
        "whole_heads": [2, 51],
    },
    "a count whose keys are new": {
        "rows": 400_000, "grown": lambda batch: (batch + 100) / 200, "whole_heads": [2, 51],
    },
    "a key group for each of few partitions": {"partitions": 7, "key_groups": 7},
    "a query that has just begun": {"batches": 1},
}  # fmt: skip


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_checkpoint_is_said_to_be_so(tmp_path: Path, name: str) -> None:
    patient = Patient(tmp_path / "cp", **HEALTHY[name])
    patient.write()
    report = keyfold.open_checkpoint(patient.root).doctor()
    assert report.advice == (), str(report)
    assert report.ok
    assert str(report).endswith("Nothing to change.")


def test_a_copy_has_few_batches_because_it_is_one(tmp_path: Path) -> None:
    patient = Patient(tmp_path / "cp", batches=2, last=500)
    patient.write()
    assert [it.name for it in keyfold.open_checkpoint(patient.root).doctor().advice]
    # A clone has the offsets of one batch more, which Spark needs to start.
    shutil.copy(patient.root / "offsets/499", patient.root / "offsets/498")
    assert keyfold.open_checkpoint(patient.root).doctor().ok


@pytest.mark.parametrize("left", ["rollback-500-a/commits/500", "synced"])
def test_few_batches_after_a_rollback_or_a_sync_are_no_illness(tmp_path: Path, left: str) -> None:
    patient = Patient(tmp_path / "cp", batches=2, last=500)
    fake = patient.write()
    # A rollback leaves a folder, a sync a file.
    fake.write(f"keyfold/{left}", "of a sync")
    assert keyfold.open_checkpoint(patient.root).doctor().ok


def test_retries_and_a_batch_that_was_begun_twice_are_no_illness(tmp_path: Path) -> None:
    patient = Patient(tmp_path / "cp")
    patient.write()
    for version in range(85, 101):
        patient.sized(patient.path(version, version % 4, attempt=1), 100_000, version)
    for partition in range(4):
        patient.sized(patient.path(90, partition, attempt=1), 100_000, 90)
    assert keyfold.open_checkpoint(patient.root).doctor().ok


def test_a_batch_that_has_begun_and_what_it_has_written_are_left_alone(tmp_path: Path) -> None:
    patient = Patient(tmp_path / "cp")
    fake = patient.write()
    fake.start(101)
    patient.sized(patient.path(102, 0), GIB, 102)
    assert keyfold.open_checkpoint(patient.root).doctor().ok


def test_rows_that_are_not_known_after_a_rescale_are_not_judged(fake: FakeCheckpoint) -> None:
    fake.operator()
    fake.start(0)
    fake.commit(0, {0: [["a"], ["b"]]})
    unknown = [family(0, "default", -1, -1, values=-1)]
    for partition, unique in enumerate("ab"):
        fake.state(1, "reference", partition=partition, id=unique, families=unknown)
    report = keyfold.open_checkpoint(fake.root).doctor(cores=4, memory_bytes=1)
    assert report.ok
    assert report.memory_bytes is None
    assert "unknown rows in 2 partitions" in str(report)


def test_format_1_may_be_needed_by_an_operator_without_keys(fake: FakeCheckpoint) -> None:
    fake.operator()
    fake.operator(1, name="globalLimit")
    fake.run(0)
    for partition in range(2):
        fake.state(1, partition=partition)
    alone = [family(0, "default", 1, 32, partitionKey="constant")]
    fake.state(1, operator=1, families=alone)
    assert keyfold.open_checkpoint(fake.root).doctor().advice == ()


def test_files_of_old_partitions_are_on_disk_too(fake: FakeCheckpoint) -> None:
    fake.operator()
    fake.start(0)
    fake.commit(0, {0: [["a"], ["b"]]})
    made = [fake.state(1, partition=it, id=unique) for it, unique in enumerate("ab")]
    made.append(fake.state(1, partition=7, id="c"))
    said = size(sum(it.stat().st_size for it in made))
    assert f"{said} on disk" in str(keyfold.open_checkpoint(fake.root).doctor())


def test_a_query_without_a_batch_or_without_state_has_nothing_to_judge(
    fake: FakeCheckpoint,
) -> None:
    fake.start(0)
    report = keyfold.open_checkpoint(fake.root).doctor()
    assert report.ok
    assert "No batch is committed yet" in str(report)
    fake.commit(0)
    report = keyfold.open_checkpoint(fake.root).doctor()
    assert report.ok
    assert "The query has no state." in str(report)


def test_a_checkpoint_of_real_rows_is_healthy(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake, sparse=True)
    for number in range(30):
        writer.batch({number % 7: number}, snapshots=number == 20)
    assert keyfold.open_checkpoint(fake.root).doctor().ok


@pytest.fixture(scope="module", params=["4.0", "4.1", "4.2"])
def of_line(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoints that each stateful operator has left, on a line of Spark."""
    root = tmp_path_factory.mktemp("line")
    golden = INTEGRATION_TESTS / "golden" / "lines" / f"spark-{request.param}.tar.xz"
    with tarfile.open(golden) as packed:
        packed.extractall(root, filter="data")
    return root


def of_queries(root: Path) -> Iterator[tuple[str, Path]]:
    for metadata in sorted(root.glob("*/*/checkpoint/metadata")):
        yield metadata.parents[1].name, metadata.parent


def test_of_what_each_operator_has_left_only_format_1_is_ill(of_line: Path) -> None:
    found = {
        name: [it.name for it in keyfold.open_checkpoint(path).doctor().advice]
        for name, path in of_queries(of_line)
    }
    assert len(found) > 30
    assert {name for name, advice in found.items() if advice} == {
        name for name in found if "checkpoint format 1" in name
    }
    assert {it for advice in found.values() for it in advice} == {"checkpoint-format-1"}


def test_the_files_of_a_load_are_looked_for_by_many_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = Patient(tmp_path / "cp", batches=12)
    patient.write()
    chain_of, asked = operator_state.chain_of, []

    def seen(*where: Any) -> Any:
        asked.append(current_thread())
        return chain_of(*where)

    monkeypatch.setattr(operator_state, "chain_of", seen)
    assert keyfold.open_checkpoint(patient.root).doctor().ok
    assert len(asked) == 4
    assert main_thread() not in asked


def test_retention_does_not_look_for_them_where_few_batches_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = Patient(tmp_path / "cp", batches=12)
    patient.write()
    storage = Storage(patient.root).once()
    exam = examine(storage, find_batch(storage, -1), None, None)
    monkeypatch.setattr(operator_state, "chain_of", None)
    assert list(too_long(exam)) == []


def test_a_query_that_deletes_files_faster_than_they_are_read_is_not_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = Patient(tmp_path / "cp", batches=12)
    fake = patient.write()
    real = doctor.examine

    def one_batch_later(storage: Storage, batch: Batch, *where: Any) -> Any:
        """The files of the batch are gone when they are asked for, and a newer one is there."""
        for path in fake.root.glob(f"state/0/*/{batch.version}_*.delta"):
            path.unlink()
        exam = real(storage, batch, *where)
        for log in ("commits", "offsets"):
            before = fake.root / log / str(batch.number)
            before.rename(fake.root / log / str(batch.number + 1))
        return exam

    monkeypatch.setattr(doctor, "examine", one_batch_later)
    with pytest.raises(BatchNotRetainedError, match="the commit log has batches"):
        keyfold.open_checkpoint(patient.root).doctor()
