"""Examines a checkpoint by all rules, in the order in which advice is given."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.doctor.attempts import several, unreferenced
from keyfold.doctor.checkpoint import beyond, format_1, unreadable
from keyfold.doctor.exam import LEAST_BATCHES, Exam, examine
from keyfold.doctor.growth import forever
from keyfold.doctor.partitions import too_few, too_many
from keyfold.doctor.report import DoctorReport
from keyfold.doctor.rescaling import few_numbers, not_movable
from keyfold.doctor.retention import too_long, too_short
from keyfold.doctor.skew import skew
from keyfold.doctor.snapshots import small_files, too_often, too_rare
from keyfold.errors import FileMissingError
from keyfold.spark_log.batch import find_batch, settled
from keyfold.spark_log.logs import batches
from keyfold.storage.storage import Storage
from keyfold.text.units import count, duration, plural, size

RULES = (
    unreadable, too_many, too_few, skew, forever, beyond, several, too_rare, too_often, too_long,
    too_short, small_files, unreferenced, format_1, not_movable, few_numbers,
)  # fmt: skip


def examine_checkpoint(
    storage: Storage, cores: int | None = None, budget_bytes: int | None = None
) -> DoctorReport:
    """The advice for a checkpoint, whose query may be running.

    Raises:
        CheckpointDamagedError: the last entry of the commit log cannot be read.
        BatchNotRetainedError: the query deletes files faster than they can be read.
        StorageError: the storage cannot be reached.
    """
    on = storage.once()
    if not batches(on, "commits"):
        note = "No batch is committed yet, so there is nothing to judge."
        return DoctorReport(on.root, (), (), (note,), None)
    exam = settled(on, lambda: examine(on, find_batch(on, -1), cores, budget_bytes), _is_whole)
    if not _is_whole(exam):
        # Raises an error if the batch is gone too: then nothing is damaged.
        find_batch(on, exam.batch.number)
    return _judged(exam)


def _is_whole(exam: Exam) -> bool:
    return not any(isinstance(it, FileMissingError) for it in exam.errors)


def _judged(exam: Exam) -> DoctorReport:
    return DoctorReport(
        path=exam.storage.root,
        advice=tuple(it for rule in RULES for it in rule(exam)),
        facts=tuple(_facts(exam)),
        notes=tuple(_notes(exam)),
        memory_bytes=exam.memory_bytes,
    )


def _facts(exam: Exam) -> Iterator[tuple[str, str]]:
    if exam.operators:
        spread = f" in {plural(exam.partitions, 'partition')}" if exam.partitions else ""
        held = f"{size(exam.live_bytes)} live, {size(exam.disk_bytes)} on disk"
        yield "state", f"{plural(exam.values, 'row')}{spread}, {held}"
    if exam.memory_bytes:
        yield "memory", f"{size(exam.memory_bytes)} for all of it, in all executors together"
    pace, kept = exam.pace, len(exam.commits)
    took = "" if pace.duration_ms is None else f", each takes {duration(pace.duration_ms)} (median)"
    every = "" if pace.mean_ms is None else f", one begins every {duration(pace.mean_ms)}{took}"
    yield "batches", f"{count(kept)} in the log, the last is {exam.batch.number}{every}"


def _notes(exam: Exam) -> Iterator[str]:
    if not exam.operators and not exam.errors:
        yield "The query has no state."
    elif exam.pace.mean_ms is None:
        yield (
            f"Fewer than {LEAST_BATCHES} batches with this number of partitions, or without times: "
            "what goes by the time from batch to batch was not judged."
        )
