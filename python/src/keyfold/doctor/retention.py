"""Old batches: too many are kept, or too few."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.doctor.exam import Exam
from keyfold.doctor.report import Advice
from keyfold.spark_log.logs import batches
from keyfold.spark_log.migrated import earlier_batches
from keyfold.text.units import count, size

_KEY = "spark.sql.streaming.minBatchesToRetain"
_DEFAULT = 100

_MOST_BATCHES = 2 * _DEFAULT
_MOST_TIMES = 10
_LEAST_BYTES = 1 << 30

_FEW_BATCHES = 3
_LEAST_LAST = 20


def too_long(exam: Exam) -> Iterator[Advice]:
    """Too many old batches.

    Spark keeps 100. Of a state that changes fast these have many times its size, which is the price
    of a rollback; so only more than twice as many count.
    """
    kept, disk = len(exam.commits), exam.disk_bytes
    # Before the files of a load are looked for.
    if kept <= _MOST_BATCHES or disk < _LEAST_BYTES:
        return
    last = sum(it.load_bytes() for it in exam.operators)
    if disk >= _MOST_TIMES * last:
        saved = (disk - last) * (1 - _DEFAULT / kept)
        yield Advice(
            name="retention-too-long",
            measured=f"{count(kept)} batches are kept. The files of the state have {size(disk)}, "
            f"those of the last batch {size(last)}.",
            change=f"Set {_KEY}={_DEFAULT}, Spark's default, and restart the query, if you need no "
            "older batch: a rollback, `keyfold diff` and `keyfold history` then reach no further "
            "back. `keyfold savepoint` keeps single batches for good.",
            brings=f"some {size(int(saved))} less in the checkpoint.",
        )


def too_short(exam: Exam) -> Iterator[Advice]:
    """Too few old batches.

    A rollback needs the offsets of its batch and of the one before: the query can go back by a
    batch or two, which may be seconds.
    """
    kept = exam.commits
    if len(kept) > _FEW_BATCHES or exam.batch.number < _LEAST_LAST or _is_new_here(exam):
        return
    yield Advice(
        name="retention-too-short",
        measured=f"The commit log has {len(kept)} of {count(exam.batch.number + 1)} batches.",
        change=f"Set {_KEY}={_DEFAULT}, Spark's default, and restart the query.",
        brings="a rollback to any of the last hundred batches, when a release has written wrong "
        "results or a file is lost.",
    )


def _is_new_here(exam: Exam) -> bool:
    """Whether there are few batches because a copy, a rollback or a migration began with few."""
    committed = batches(exam.storage, "commits")
    # Spark deletes from both logs alike. A copy has the offsets of one batch more than commits.
    is_copy = batches(exam.storage, "offsets")[:1] != committed[:1]
    is_changed = any(
        it.name.startswith(("rollback-", "synced")) for it in exam.storage.listing("keyfold")
    )
    return is_copy or is_changed or earlier_batches(exam.storage) is not None
