"""Checkpoints of Spark's older format."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.doctor.advice import Advice
from keyfold.doctor.exam import Exam
from keyfold.doctor.new_location import WITHOUT_STATE
from keyfold.doctor.rule import Rule
from keyfold.settings import FORMAT_KEY


def _v1(exam: Exam) -> Iterator[Advice]:
    # On 4.0 one operator without keys is enough for format 1.
    are_spread = all(it.is_spread for it in exam.operators)
    if exam.spread and are_spread and not exam.batch.commit.ids:
        yield Advice(
            name="checkpoint-format-1",
            measured=f"The commit of batch {exam.batch.number} names no ids of state: the query "
            "runs with checkpoint format 1.",
            change=f"On Spark 4.2 restart the query with {FORMAT_KEY}=2, which keyfold.configure "
            "sets. On other lines a checkpoint keeps its format: a new location has format 2. "
            f"{WITHOUT_STATE}",
            brings="of two attempts at a batch the one that Spark committed counts, and not the "
            "last to write; deltas are merged; a partition that does not change writes nothing; a "
            "query that was stopped in a batch can be rescaled.",
        )


FORMAT = Rule(
    name="checkpoint-format-1",
    given="the last commit has no ids of state; not if an operator has one partition only",
    reason="its [guarantees](design/files.md#checkpoint-formats-v1-and-v2) are weaker. On Spark "
    "4.0 queries with an operator without keys, which has one partition, run with format 1 only",
    judge=_v1,
)
