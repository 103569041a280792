"""Checkpoints that are made ill, each in one way: the illness is named, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import keyfold
from keyfold.doctor import doctor
from keyfold.doctor.exam import Exam, examine
from keyfold.doctor.operator_state import length_of
from keyfold.doctor.report import Advice
from keyfold.format.footer import Reference
from keyfold.format.names import FileKind, FileName, StoreLocation, Version
from keyfold.spark_log.batch import Batch
from keyfold.state.chain import Step
from keyfold.state.store_files import StoreFiles
from keyfold.state.walk import Part
from keyfold.storage.storage import Storage
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter
from python.tests.doctor.patient import GIB, MIB, Patient
from python.tests.doctor.rules import GIVEN

HOUR_MS = 3_600_000
# What makes a patient ill, by the advice that it is to get.
ILL: dict[str, dict[str, Any]] = {
    "too-many-partitions": {
        "partitions": 200, "batches": 20, "interval_ms": 1600, "took_ms": 1500, "rows": 50,
        "delta_bytes": 400, "snapshot_bytes": 2000,
    },
    "too-few-partitions": {"rows": 25_000_000},
    "grows-forever": {
        "name": "dedupe", "rows": 400_000, "grown": lambda batch: (batch + 100) / 200,
        "whole_heads": [2, 51],
    },
    "snapshots-too-rare": {"batches": 150, "snapshot_every": 0},
    "snapshots-too-often": {"snapshot_every": 2},
    "retention-too-long": {"batches": 400, "last": 5000, "delta_bytes": MIB},
    "retention-too-short": {"batches": 2, "last": 500},
    "small-files": {
        "partitions": 24, "interval_ms": 150, "took_ms": 140, "delta_bytes": 2000,
    },
    "several-actions": {"attempts": 2},
    "checkpoint-format-1": {"with_ids": False, "snapshot_every": 10},
    "not-rescalable": {"families": {"strays": True}},
    "key-groups": {"partitions": 7, "key_groups": 7, "rows": 2_000_000},
}  # fmt: skip


def advice(patient: Patient, **known: int) -> tuple[Advice, ...]:
    patient.write()
    return keyfold.open_checkpoint(patient.root).doctor(**known).advice


def only(root: Path, **known: int) -> Advice:
    report = keyfold.open_checkpoint(root).doctor(**known)
    assert len(report.advice) == 1, str(report)
    return report.advice[0]


@pytest.mark.parametrize("name", ILL)
def test_the_illness_is_named_and_nothing_else(tmp_path: Path, name: str) -> None:
    patient = Patient(tmp_path / "cp", **ILL[name])
    assert [it.name for it in advice(patient)] == [name]


def test_each_illness_has_a_test() -> None:
    others = {"skew", "memory-budget", "unreferenced-files", "unreadable"}
    assert set(GIVEN) == {*ILL, *others}


def test_too_many_partitions_say_to_how_many_and_what_it_brings(tmp_path: Path) -> None:
    patient = Patient(tmp_path / "cp", **ILL["too-many-partitions"])
    (found,) = advice(patient)
    assert found.measured.startswith("200 partitions for 10,000 rows (390.6 KiB) of state.")
    assert "starts 200 tasks, which takes some 1.2 s on 2 cores" in found.measured
    # The cores are not known, so no script is to run a command.
    assert found.command is None
    assert (
        "rescale it to the number of the cores of all executors, at least 8. `keyfold doctor "
        f"{patient.root} --cores N` says it exactly." in found.change
    )
    assert found.brings.startswith("192 tasks fewer in each batch")
    # With more cores tasks start sooner.
    found = keyfold.open_checkpoint(patient.root).doctor(cores=16)
    assert "too-many-partitions" not in {it.name for it in found.advice}


def test_too_many_partitions_for_the_cores_that_are_said_have_a_command(tmp_path: Path) -> None:
    ill = ILL["too-many-partitions"] | {"interval_ms": 1000, "took_ms": 700}
    patient = Patient(tmp_path / "cp", **ill)
    patient.write()
    found = only(patient.root, cores=16)
    assert found.change.startswith("Stop the query and rescale it to 20 partitions.")
    assert found.change.endswith(
        "If it sets spark.sql.streaming.stateStore.keyfold.partitions, set that to the same number."
    )
    assert found.command == f"keyfold rescale {patient.root} --to 20 --apply"
    assert "which takes some 150 ms on 16 cores" in found.measured
    found = keyfold.open_checkpoint(patient.root).doctor(cores=64)
    assert "too-many-partitions" not in {it.name for it in found.advice}


@pytest.mark.parametrize("took_ms", [-1000, 90_000])
def test_where_it_is_not_known_how_long_batches_take_partitions_are_not_too_many(
    tmp_path: Path, took_ms: int
) -> None:
    # A clock that is behind, and the files of a copy.
    ill = ILL["too-many-partitions"] | {"took_ms": took_ms}
    assert "too-many-partitions" not in {it.name for it in advice(Patient(tmp_path / "cp", **ill))}


def test_partitions_that_cannot_be_rescaled_get_no_command(tmp_path: Path) -> None:
    strays = {"families": {"strays": True}}
    found = advice(Patient(tmp_path / "cp", **ILL["too-many-partitions"], **strays))
    assert [it.name for it in found] == ["too-many-partitions", "not-rescalable"]
    assert found[0].command is None
    assert "new checkpoint location with spark.sql.shuffle.partitions=N" in found[0].change
    assert found[0].change.endswith("says it exactly.")
    assert "begins without this state: `keyfold evolve` keeps the number" in found[0].change


def test_what_the_offset_log_does_not_let_move_gets_no_command(tmp_path: Path) -> None:
    found = advice(Patient(tmp_path / "cp", **ILL["too-few-partitions"], strict="false"))
    assert [it.name for it in found] == ["too-few-partitions", "not-rescalable"]
    assert found[0].command is None
    assert "useStrictDistribution=true" in found[1].measured


NOTES = {"grows-forever", "not-rescalable", "key-groups"}


@pytest.mark.parametrize("name", ILL)
def test_advice_that_may_be_to_change_nothing_is_a_note(tmp_path: Path, name: str) -> None:
    patient = Patient(tmp_path / "cp", **ILL[name])
    patient.write()
    report = keyfold.open_checkpoint(patient.root).doctor()
    assert report.ok == (name in NOTES)
    assert ("change nothing" in report.advice[0].change) == (name in NOTES)
    assert ("\n\nTo know\n\n" in str(report)) == (name in NOTES)


NEW_LOCATION = {"grows-forever", "checkpoint-format-1", "not-rescalable", "key-groups"}


@pytest.mark.parametrize("name", ILL)
def test_a_new_location_is_said_to_begin_without_this_state(tmp_path: Path, name: str) -> None:
    (found,) = advice(Patient(tmp_path / "cp", **ILL[name]))
    assert ("new checkpoint" in found.change or "new location" in found.change) == (
        name in NEW_LOCATION
    )
    assert ("begins without this state" in found.change) == (name in NEW_LOCATION)
    assert ("`keyfold evolve`" in found.change) == (name in NEW_LOCATION)


def test_too_few_partitions_by_rows(tmp_path: Path) -> None:
    patient = Patient(tmp_path / "cp", **ILL["too-few-partitions"])
    (found,) = advice(patient)
    assert "4 partitions of operator 0 (stateStoreSave), with 25,000,000 rows" in found.measured
    # 5 million rows each, or fewer: a multiple of 4 that divides 5,040 groups.
    assert found.command == f"keyfold rescale {patient.root} --to 20 --apply"
    assert found.brings.startswith("5.0 times as many tasks")


def test_too_few_partitions_for_the_cores_that_are_said(tmp_path: Path) -> None:
    patient = Patient(tmp_path / "cp", delta_bytes=2 * MIB, took_ms=40_000)
    patient.write()
    assert keyfold.open_checkpoint(patient.root).doctor(cores=4).ok
    found = only(patient.root, cores=16)
    assert found.name == "too-few-partitions"
    assert found.measured.endswith("for 16 cores.")
    assert found.command == f"keyfold rescale {patient.root} --to 16 --apply"


def test_skew_names_the_key_behind_it(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake, multi=True)
    writer.batch({1: [1], 2: [1] * 900, 3: [1] * 50, 4: [1] * 50})
    heavy = writer.owner(2)
    # Its footer says 160 MB, more than a test writes.
    for partition in (0, 1):
        rows = {2: range(10_000_000 if partition == heavy else 1000)}
        entries = writer.changes[partition, 1]
        content = writer.file(1, "delta", partition, entries, rows=rows, lineage=[])
        writer.path(1, partition=partition).write_bytes(content)
    found = only(fake.root)
    assert found.name == "skew"
    assert found.measured.startswith(f"Partition {heavy} of operator 0 (stateStoreSave) has 152.6")
    assert found.measured.endswith('Its heaviest key is {"id": 2} (95%).')
    assert found.operator == 0


def test_skew_whose_rows_cannot_be_read_is_still_named(tmp_path: Path) -> None:
    rows = [100_000, 100_000, 100_000, 10_000_000]
    (found,) = advice(Patient(tmp_path / "cp", rows=rows))
    assert found.name == "skew"
    assert found.measured.endswith("so no key is named.")
    larger = Patient(tmp_path / "larger", rows=rows, snapshot_bytes=300 * MIB)
    (found,) = advice(larger)
    assert f"`keyfold inspect {larger.root} skew`" in found.measured


def test_after_a_rescale_the_files_that_are_referred_to_count(tmp_path: Path) -> None:
    fake = FakeCheckpoint(tmp_path / "cp")
    own = {FileName(1, "old", FileKind.SNAPSHOT): 10}
    listed = StoreFiles(Storage(fake.root), StoreLocation(0, 0, "default"), own)
    part = Part(2, "", Version(2, ""), listed, None, None)
    other = Reference("state/0/1/1_old.snapshot", FileName(1, "old", FileKind.SNAPSHOT), 5 * MIB)
    assert length_of(part, Step("state/0/0/1_old.snapshot")) == 10
    assert length_of(part, Step("state/0/1/1_old.snapshot", other)) == 5 * MIB
    assert length_of(part, Step("state/0/1/1_old.snapshot")) == 0


def test_state_that_grows_says_when_it_doubles(tmp_path: Path) -> None:
    (found,) = advice(Patient(tmp_path / "cp", **ILL["grows-forever"]))
    assert "8,000 more in each batch" in found.measured
    assert "they double in 3.3 h" in found.measured


def test_memory_beyond_the_budgets_that_are_said(tmp_path: Path) -> None:
    patient = Patient(tmp_path / "cp")
    patient.write()
    found = only(patient.root, memory_bytes=32 * MIB)
    assert found.name == "memory-budget"
    # 1.25 x 400,000 x (40 + 40) bytes.
    assert "about 38.1 MiB of memory" in found.measured
    assert keyfold.open_checkpoint(patient.root).doctor(memory_bytes=39 * MIB).ok


def test_snapshots_too_rare_count_what_a_load_reads(tmp_path: Path) -> None:
    (found,) = advice(Patient(tmp_path / "cp", **ILL["snapshots-too-rare"]))
    assert "reads 150 deltas in each partition (median), at most 150" in found.measured
    assert "minDeltasForSnapshot=10" in found.change


def test_snapshots_too_often_say_what_they_wrote(tmp_path: Path) -> None:
    (found,) = advice(Patient(tmp_path / "cp", **ILL["snapshots-too-often"]))
    assert "196 snapshots of 784.0 MiB after the first ones, one every 2 versions" in found.measured
    assert "snapshotAfterShare=0.5" in found.change
    assert found.brings.startswith("some 149.5 MiB of merged deltas and snapshots")
    v1 = Patient(tmp_path / "v1", **ILL["snapshots-too-often"], with_ids=False)
    often, of_format = advice(v1)
    assert (often.name, of_format.name) == ("snapshots-too-often", "checkpoint-format-1")
    assert often.brings == "some 156.8 MiB of snapshots in the place of these 784.0 MiB."


def test_retention_says_what_is_kept(tmp_path: Path) -> None:
    (found,) = advice(Patient(tmp_path / "long", **ILL["retention-too-long"]))
    assert found.measured.startswith("400 batches are kept. The files of the state have 1.7 GiB")
    assert "minBatchesToRetain=100" in found.change
    assert "a rollback, `keyfold diff` and `keyfold history` then reach no further" in found.change
    (found,) = advice(Patient(tmp_path / "short", **ILL["retention-too-short"]))
    assert found.measured == "The commit log has 2 of 501 batches."


def test_small_files_say_which_trigger_to_take(tmp_path: Path) -> None:
    (found,) = advice(Patient(tmp_path / "cp", **ILL["small-files"]))
    assert found.measured.startswith("160 state files a second, of 1.9 KiB on average")
    assert "trigger(processingTime='2 seconds')" in found.change


def test_several_actions_are_told_from_retries(tmp_path: Path) -> None:
    (found,) = advice(Patient(tmp_path / "cp", attempts=3))
    assert "20 of the last 20 batches that changed state have computed it 3.0 times" in (
        found.measured
    )
    assert "batch.persist()" in found.change
    # The other cause, of which the files look alike.
    assert "Complete mode with orderBy" in found.change


def test_files_that_nothing_needs_are_for_a_vacuum(tmp_path: Path) -> None:
    patient = Patient(tmp_path / "cp", interval_ms=HOUR_MS)
    patient.write()
    for version in range(2, 12):
        patient.sized(patient.path(version, 1, attempt=1), GIB // 8, version)
    found = only(patient.root)
    assert found.name == "unreferenced-files"
    assert found.measured.startswith("10 files of 1.2 GiB, a day old or older, are of attempts")
    assert found.command == f"keyfold vacuum {patient.root} --apply"
    # A rescale may refer to them.
    (patient.root / "keyfold").mkdir()
    synced = patient.root / "keyfold" / "synced"
    synced.touch()
    assert only(patient.root).name == "unreferenced-files"
    (patient.root / "keyfold" / "rescale-50-some-id.plan").touch()
    assert keyfold.open_checkpoint(patient.root).doctor().ok


def test_files_that_a_running_query_deletes_meanwhile_are_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = Patient(tmp_path / "cp", batches=12)
    patient.write()
    patient.path(12, 2).unlink()
    looked = []

    def meanwhile(on: Storage, batch: Batch, *more: Any) -> Exam:
        looked.append(batch.number)
        found = examine(on, batch, *more)
        Patient(tmp_path / "cp", batches=13).write()
        return found

    monkeypatch.setattr(doctor, "examine", meanwhile)
    assert keyfold.open_checkpoint(patient.root).doctor().ok
    assert looked == [11, 12]


def test_what_cannot_be_read_is_for_fsck(tmp_path: Path) -> None:
    patient = Patient(tmp_path / "cp")
    patient.write()
    patient.path(101, 2).write_bytes(b"")
    found = only(patient.root)
    assert found.name == "unreadable"
    assert "[KEYFOLD_FILE_CORRUPT]" in found.measured
    assert found.command == f"keyfold fsck {patient.root}"
