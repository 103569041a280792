"""Attempts at batches: several at each, and files that they have left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from keyfold.doctor.exam import Exam
from keyfold.doctor.report import Advice
from keyfold.errors import KeyfoldError
from keyfold.format.names import FileName, Version, original
from keyfold.format.plan import parse_plan_name
from keyfold.spark_log.batch import Batch
from keyfold.spark_log.logs import OperatorMetadata, read_commit
from keyfold.text.units import plural, size

_LEAST_VERSIONS = 5

_DAY_MS = 24 * 3_600_000
_LEAST_BYTES = 1 << 30
_SHARE = 4


def several(exam: Exam) -> Iterator[Advice]:
    """Batches whose state is computed several times.

    Each action on a batch computes and writes its state again, under another id, and so does the
    range partitioning of complete mode with orderBy. Retries and speculative tasks repeat single
    partitions, and a restart a single batch. Format 1 has no ids.
    """
    if not exam.batch.commit.ids:
        return
    written: Counter[int] = Counter()
    again: Counter[int] = Counter()
    attempts: Counter[int] = Counter()
    for it in exam.operators:
        for _, version, sizes in it.deltas(exam.recent):
            written[version] += 1
            again[version] += len(sizes) > 1
            attempts[version] += len(sizes)
    repeated = [it for it in written if 2 * again[it] >= written[it]]
    if len(repeated) < _LEAST_VERSIONS or 2 * len(repeated) < len(written):
        return
    times = sum(attempts[it] / written[it] for it in repeated) / len(repeated)
    yield Advice(
        name="several-actions",
        measured=f"{len(repeated)} of the last {len(written)} batches that changed state have "
        f"computed it {times:.1f} times on average: their partitions have a delta of each time.",
        change="Let each batch be computed once. In foreachBatch call batch.persist() before the "
        "first action and batch.unpersist() after the last, or use one action. Complete mode with "
        "orderBy computes it twice too, as Spark reads the rows once to find the ranges: leave "
        "the order to what reads the results, or leave all as it is if the sink needs it.",
        brings=f"the state, and what comes before it, is computed once instead of {times:.1f} "
        "times, and written once.",
    )


def unreferenced(exam: Exam) -> Iterator[Advice]:
    """Files of attempts that were not committed.

    Retention deletes them with all that is older than what it needs, which in a partition that does
    not change stays as it is. By default `keyfold vacuum` takes those that are a day old.
    """
    # What a rescale refers to is needed, whatever the commit log says since.
    is_rescaled = any(parse_plan_name(it.name) for it in exam.storage.listing("keyfold"))
    least = max(_LEAST_BYTES, exam.disk_bytes / _SHARE)
    old = list(_old_files(exam))
    # Before the commits are read, of which most checkpoints need none.
    if is_rescaled or sum(it.length for it in old) < least or any(several(exam)):
        return
    written = {it.version: it for it in _batches(exam)}
    lost = [it for it in old if _is_lost(it, written.get(it.name.version))]
    total = sum(it.length for it in lost)
    if total >= least:
        yield Advice(
            name="unreferenced-files",
            measured=f"{plural(len(lost), 'file')} of {size(total)}, a day old or older, are of "
            f"attempts at batches that were not committed; all files have {size(exam.disk_bytes)}.",
            change="Delete the files that nothing needs.",
            brings=f"{size(total)} less in the checkpoint.",
            command=f"keyfold vacuum {exam.path} --apply",
        )


class _OldFile(NamedTuple):
    operator: OperatorMetadata
    partition: int
    store: int
    name: FileName
    length: int


def _old_files(exam: Exam) -> Iterator[_OldFile]:
    """Files that are a day older than the newest of their store."""
    for operator in exam.operators:
        for store, parts in enumerate(operator.stores):
            for part in parts:
                times = {name: it for name, it in part.files.times.items() if it is not None}
                newest = max(times.values(), default=0)
                for name, modified in times.items():
                    if newest - modified >= _DAY_MS:
                        where = operator.metadata, part.location.partition, store
                        yield _OldFile(*where, name, part.files.sizes[name])


def _is_lost(it: _OldFile, batch: Batch | None) -> bool:
    """Whether a file is of another attempt at a batch than the one that was committed."""
    if batch is None or not batch.commit.id_of(it.operator.id, it.partition, it.store):
        return False
    known = batch.written(it.operator, it.partition, it.store)
    # That in whose place a redistribution has put one is needed by it.
    return Version(it.name.version, it.name.id) not in {known, original(known)}


def _batches(exam: Exam) -> Iterator[Batch]:
    """The committed batches with ids of their own, of those whose commits can be read."""
    exam.storage.fetch(f"commits/{it}" for it in exam.commits)
    for number in exam.commits:
        with suppress(KeyfoldError):
            commit = read_commit(exam.storage, number)
            if commit.ids:
                yield Batch(commit, None)
