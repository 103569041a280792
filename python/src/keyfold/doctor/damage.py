"""What could not be read."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.doctor.advice import Advice
from keyfold.doctor.exam import Exam
from keyfold.doctor.rule import Rule
from keyfold.text.units import plural


def _unreadable(exam: Exam) -> Iterator[Advice]:
    if exam.errors:
        first = exam.errors[0]
        yield Advice(
            name="unreadable",
            measured=f"{plural(len(exam.errors), 'part')} of the checkpoint cannot be read. The "
            f"first: [{first.condition}] {first.args[0]}",
            change="Look for damage first; other advice is about what can be read.",
            brings="whether the query can start, and the command that repairs it.",
            command=f"keyfold fsck {exam.path}",
        )


UNREADABLE = Rule(
    name="unreadable",
    given="the description of an operator or the head of a partition cannot be read",
    reason="`doctor` reads the ends of a few files of each partition and looks for no damage; "
    "`keyfold fsck` does. If the last entry of Spark's logs cannot be read, it ends in an error",
    judge=_unreadable,
)
