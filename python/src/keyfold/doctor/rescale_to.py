"""Which number of partitions to take instead, and how."""

from __future__ import annotations

from math import ceil

from keyfold.doctor.exam import Exam
from keyfold.settings import PARTITIONS_KEY

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


def how(exam: Exam, to: int, *, is_exact: bool = True) -> tuple[str, str | None]:
    """What to change, and the command that does it, if one can.

    `to` is exact, or the least that it can be where the query's cores are not known: no script is
    to run a command with it then.
    """
    number = str(to) if is_exact else f"the number of the cores of all executors, at least {to}"
    exactly = "" if is_exact else f" `keyfold doctor {exam.path} --cores N` says it exactly."
    if not exam.is_movable:
        change = (
            "This state cannot be rescaled. A query on a new checkpoint location with "
            f"spark.sql.shuffle.partitions={to if is_exact else 'N'} has so many"
        )
        where = "" if is_exact else f", where N is {number}"
        # An evolved checkpoint has the settings of the one before.
        begins = "A new location begins without this state: `keyfold evolve` keeps the number of"
        return f"{change}{where}. {begins} partitions.{exactly}", None
    change = (
        f"Stop the query and rescale it to {number}{' partitions' if is_exact else ''}.{exactly} "
        f"If it sets {PARTITIONS_KEY}, set that to the same number."
    )
    return change, f"keyfold rescale {exam.path} --to {to} --apply" if is_exact else None
