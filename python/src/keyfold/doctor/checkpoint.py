"""What concerns a checkpoint as a whole: parts that cannot be read, its format, its memory."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.doctor.exam import Exam
from keyfold.doctor.report import WITHOUT_STATE, Advice
from keyfold.settings import FORMAT_KEY, MEMORY_KEY
from keyfold.text.units import plural, size


def unreadable(exam: Exam) -> Iterator[Advice]:
    """Something that cannot be read.

    `doctor` reads the ends of a few files of each partition and looks for no damage; `keyfold fsck`
    does. If the last entry of Spark's logs cannot be read, it ends in an error.
    """
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


def format_1(exam: Exam) -> Iterator[Advice]:
    """Spark's older checkpoint format.

    Its [guarantees](design/files.md#checkpoint-formats-v1-and-v2) are weaker. On Spark 4.0 queries
    with an operator without keys, which has one partition, run with format 1 only.
    """
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


def beyond(exam: Exam) -> Iterator[Advice]:
    """State beyond the memory budget of the executors.

    The formula gave 1 to 1.3 times what queries took. No file says what the budgets are, or how
    many executors there are.
    """
    budget, wanted = exam.budget_bytes, exam.memory_bytes
    if budget is not None and wanted is not None and wanted > budget:
        yield Advice(
            name="memory-budget",
            measured=f"The state takes about {size(wanted)} of memory, and the budgets of all "
            f"executors have {size(budget)} together.",
            change=f"Give executors budgets of {size(wanted)} together: {MEMORY_KEY}, and as much "
            "more spark.executor.memoryOverhead; or more executors, if the query has partitions "
            "for them.",
            brings="no state is written to the executors' local disks and read back in each batch.",
        )
