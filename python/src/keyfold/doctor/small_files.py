"""Too many small files."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from keyfold.doctor.advice import Advice, rule
from keyfold.doctor.exam import Exam
from keyfold.doctor.partitions import too_many
from keyfold.text.units import count, plural, size

_MOST_PER_SECOND = 100
_GOOD_PER_SECOND = 20
_SMALL = 16 << 10


@rule(
    "small-files",
    given=f"a query writes {_MOST_PER_SECOND} state files a second or more, of {size(_SMALL)} or "
    "less on average; not if it has too many partitions, which is the cause then",
)
def small_files(exam: Exam) -> Iterator[Advice]:
    """Too many small files.

    Each is a request to an object store, or a write that waits for the disk; 100 requests a second
    are 260 million a month.
    """
    if exam.pace.mean_ms is None or not exam.recent or any(too_many.judge(exam)):
        return
    sizes = [
        length
        for it in exam.operators
        for _, _, attempts in it.deltas(exam.recent)
        for length in attempts
    ]
    each_batch = len(sizes) / len(exam.recent)
    each_second = each_batch / (exam.pace.mean_ms / 1000)
    average = sum(sizes) / max(len(sizes), 1)
    if each_second < _MOST_PER_SECOND or average > _SMALL:
        return
    interval = ceil(each_batch / _GOOD_PER_SECOND)
    yield Advice(
        name="small-files",
        measured=f"{count(int(each_second))} state files a second, of {size(int(average))} on "
        f"average: a batch writes {count(int(each_batch))}, and one begins every "
        f"{exam.pace.mean_ms / 1000:.2f} s.",
        change=f"If results may come {plural(interval, 'second')} late, start the query with "
        f"trigger(processingTime='{plural(interval, 'second')}').",
        brings=f"{_GOOD_PER_SECOND} files a second or fewer, each a request to an object store or "
        "a write that waits for the disk; and more rows for each task that is started.",
    )
