"""State beyond the memory budget of the executors."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.doctor.advice import Advice
from keyfold.doctor.exam import Exam
from keyfold.doctor.rule import Rule
from keyfold.settings import MEMORY_KEY
from keyfold.text.units import size


def _beyond(exam: Exam) -> Iterator[Advice]:
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


BEYOND = Rule(
    name="memory-budget",
    given="`--memory` is given, and the state takes more by the formula of "
    "[Sizing](cluster.md#sizing)",
    reason="the formula gave 1 to 1.3 times what queries took. No file says what the budgets are, "
    "or how many executors there are",
    judge=_beyond,
)
