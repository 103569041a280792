"""Files that no batch needs, and that nothing deletes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from keyfold.doctor.actions import is_repeated
from keyfold.doctor.advice import Advice
from keyfold.doctor.exam import Exam
from keyfold.doctor.rule import Rule
from keyfold.errors import KeyfoldError
from keyfold.format.names import FileName, Version, original
from keyfold.format.plan import parse_plan_name
from keyfold.spark_log.batch import Batch
from keyfold.spark_log.logs import OperatorMetadata, read_commit
from keyfold.text.units import plural, size

_DAY_MS = 24 * 3_600_000
_LEAST_BYTES = 1 << 30
_SHARE = 4


def _unreferenced(exam: Exam) -> Iterator[Advice]:
    # What a rescale refers to is needed, whatever the commit log says since.
    is_rescaled = any(parse_plan_name(it.name) for it in exam.storage.listing("keyfold"))
    least = max(_LEAST_BYTES, exam.disk_bytes / _SHARE)
    old = list(_old_files(exam))
    # Before the commits are read, of which most checkpoints need none.
    if is_rescaled or sum(it.length for it in old) < least or is_repeated(exam):
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


UNREFERENCED = Rule(
    name="unreferenced-files",
    given="files of attempts that were not committed, a day older than the newest file, have "
    f"{size(_LEAST_BYTES)} or more and 1/{_SHARE} of all; not if batches have several actions, "
    "which is the cause then, nor where there is a plan of a rescale",
    reason="retention deletes them with all that is older than what it needs, which in a "
    "partition that does not change stays as it is. By default `keyfold vacuum` takes those that "
    "are a day old",
    judge=_unreferenced,
)
