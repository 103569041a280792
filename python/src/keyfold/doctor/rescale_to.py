"""Which number of partitions to take instead, and how."""

from __future__ import annotations

from math import ceil

from keyfold.doctor.exam import Exam

# Of a number that files suit well, at most so many times what is needed.
_TIMES = 4


def fewer(partitions: int, key_groups: int, needed: int) -> int:
    """The smallest number that is enough and suits the files best.

    With a divisor of the number there is, each new partition has whole old ones; with one of the
    key groups, whole groups.
    """
    below = range(needed, min(partitions, _TIMES * needed))
    of_partitions = [it for it in below if partitions % it == 0]
    of_groups = [it for it in below if key_groups % it == 0]
    return next(iter([*of_partitions, *of_groups]), needed)


def more(partitions: int, key_groups: int, needed: int) -> int:
    """The same for more: a multiple of the number there is, which divides the key groups."""
    least = ceil(needed / partitions)
    multiples = [partitions * it for it in range(least, _TIMES * least)]
    return next((it for it in multiples if key_groups % it == 0), multiples[0])


def how(exam: Exam, to: int, otherwise: str = "") -> tuple[str, str | None]:
    """What to change, and the command that does it, if one can."""
    if any(it.not_movable for it in exam.operators):
        change = (
            "This state cannot be rescaled: start the query on a new checkpoint location with "
            f"spark.sql.shuffle.partitions={to}{otherwise}."
        )
        return change, None
    change = f"Stop the query and rescale it to {to} partitions{otherwise}."
    return change, f"keyfold rescale {exam.path} --to {to} --apply"
