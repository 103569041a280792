"""State that cannot be rescaled, or not to a useful number of partitions."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.doctor.exam import Exam
from keyfold.doctor.report import NOTE, WITHOUT_STATE, Advice
from keyfold.format.footer import total
from keyfold.settings import STRICT_KEY
from keyfold.text.printable import printable
from keyfold.text.units import count, size

_KEY = "spark.sql.streaming.stateStore.keyfold.keyGroups"
_TIMES = 4
_LEAST_BYTES = 256 << 20


def not_movable(exam: Exam) -> Iterator[Advice]:
    """State that cannot be rescaled.

    A rescale itself goes by these: [strays](design/spark.md#rows-and-partitions).
    """
    if exam.spread and not exam.is_strict:
        yield Advice(
            name="not-rescalable",
            measured=f"The offset log does not have {STRICT_KEY}=true: rows may be in other "
            "partitions than the hashes of their keys say.",
            change="If the number of partitions is right, change nothing. To be able to change "
            f"it, start the query on a new checkpoint location. {WITHOUT_STATE}",
            brings="`keyfold rescale` can change the number of partitions, which it refuses now "
            "(KEYFOLD_RESCALE_PLACEMENT).",
            rank=NOTE,
        )
    for it in exam.operators:
        if it.not_movable:
            names = printable(", ".join(it.not_movable))
            yield Advice(
                name="not-rescalable",
                measured=f"Rows of {it.label} are in other partitions than the hashes of their "
                f"keys say, or no rule for them is known, in: {names}.",
                change="If the number of partitions is right, change nothing. To be able to change "
                "it, start the query on a new checkpoint location, and group by values that are "
                "stored as they are: cast the column to the key's type, and leave no NULL in a key "
                f"of numbers or texts that pandas handles. {WITHOUT_STATE}",
                brings="`keyfold rescale` can change the number of partitions, which it refuses "
                "now (KEYFOLD_RESCALE_PLACEMENT, KEYFOLD_RESCALE_NO_RULE).",
                operator=it.metadata.id,
                rank=NOTE,
            )


def few_numbers(exam: Exam) -> Iterator[Advice]:
    """Key groups that suit no other number of partitions.

    Below 4,096 partitions the default number of key groups has such divisors. A smaller state is
    read whole in a second or two.
    """
    for it in exam.spread:
        groups, here, held = it.key_groups, len(it.partitions), total(it.bytes)
        if groups is None or held is None or held < _LEAST_BYTES or it.subtasks is not None:
            continue
        near = range(max(here // _TIMES, 2), _TIMES * here + 1)
        if any(groups % number == 0 for number in near if number != here):
            continue
        yield Advice(
            name="key-groups",
            measured=f"{it.title} has {count(groups)} key groups, for "
            f"{count(here)} partitions and {size(held)} of state. No other number of partitions "
            f"from {near.start} to {near.stop - 1} divides them.",
            change="The number of a checkpoint's key groups is fixed, so change nothing here. For "
            f"a new checkpoint leave {_KEY} out, and take a number of partitions with many "
            f"divisors, such as 48 or 120. {WITHOUT_STATE}",
            brings="after a rescale, each partition reads the files with its own key groups; now "
            "it would read all rows of several old partitions, once.",
            operator=it.metadata.id,
            rank=NOTE,
        )
