"""Batches whose state is computed several times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from keyfold.doctor.advice import Advice
from keyfold.doctor.exam import Exam
from keyfold.doctor.rule import Rule

_LEAST_VERSIONS = 5


def is_repeated(exam: Exam) -> bool:
    """Whether recent batches were computed several times, other than by retries."""
    return next(_several(exam), None) is not None


def _several(exam: Exam) -> Iterator[Advice]:
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


SEVERAL = Rule(
    name="several-actions",
    given=f"in {_LEAST_VERSIONS} of the last 20 batches or more, and in half of those that "
    "changed state, half of the partitions that changed have deltas of several attempts; under "
    "checkpoint format 2 only",
    reason="each action on a batch computes and writes its state again, under another id, and so "
    "does the range partitioning of complete mode with orderBy. Retries and speculative tasks "
    "repeat single partitions, and a restart a single batch. Format 1 has no ids",
    judge=_several,
)
