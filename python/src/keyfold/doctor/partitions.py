"""Too many partitions, or too few, and which number to take instead."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from statistics import median

from keyfold.doctor.exam import Exam
from keyfold.doctor.operator_state import OperatorState
from keyfold.doctor.report import Advice
from keyfold.format.footer import total
from keyfold.settings import PARTITIONS_KEY
from keyfold.text.units import count, duration, plural, size

_MIB, _GIB = 1 << 20, 1 << 30

# What one of fewer partitions can well have.
_FEW_ROWS, _FEW_BYTES = 1_000_000, 64 * _MIB
_LEAST_PARTITIONS = 8
_TIMES_TOO_MANY = 4
_LITTLE_CHANGED = 16 << 10
# To start a task, where there are so many cores.
_TASK_MS, _CORES = 6, 2
_OF_DURATION, _OF_INTERVAL = 5, 10

_MOST_ROWS, _MOST_BYTES = 20_000_000, 4 * _GIB
_GOOD_ROWS, _GOOD_BYTES = 5_000_000, _GIB
_MUCH_CHANGED = _MIB

# Of a number that files suit well, at most so many times what is needed.
_TIMES = 4


def too_many(exam: Exam) -> Iterator[Advice]:
    """Too many partitions.

    On 2 cores a task took 6 ms, whatever the store
    ([measured](benchmarks-limits.md#beside-no-store-at-all)). So few changes, some 1,000 rows, take
    less. A query that waits for input most of the time, or whose tasks compute for long, gains
    little.
    """
    mean, took = exam.pace.mean_ms, exam.pace.duration_ms
    needed = _needed(exam)
    # A batch that takes no time was timed by two clocks that differ.
    if mean is None or not took or needed is None or exam.partitions < _TIMES_TOO_MANY * needed:
        return
    cores = exam.cores or _CORES
    tasks = sum(len(it.partitions) for it in exam.spread)
    starting = tasks * _TASK_MS * _CORES / cores
    changed = max(changed_bytes(exam, it) for it in exam.spread)
    matters = starting * _OF_INTERVAL >= mean and starting * _OF_DURATION >= took
    if changed > _LITTLE_CHANGED or not matters:
        return
    to = fewer(exam.partitions, _key_groups(exam), needed)
    change, command = how(exam, to, is_exact=exam.cores is not None)
    saved = tasks - to * len(exam.spread)
    sooner = duration(saved * _TASK_MS * _CORES / cores)
    yield Advice(
        name="too-many-partitions",
        measured=f"{count(exam.partitions)} partitions for {plural(exam.values, 'row')} "
        f"({size(exam.live_bytes)}) of state. A batch begins every {duration(mean)}, writes "
        f"{size(int(changed))} of changes in each partition, and starts {count(tasks)} tasks, "
        f"which takes some {duration(starting)} on {plural(cores, 'core')}.",
        change=change,
        brings=f"{plural(saved, 'task')} fewer in each batch: some {sooner} less on "
        f"{plural(cores, 'core')}, and fewer files.",
        command=command,
    )


def _needed(exam: Exam) -> int | None:
    """Partitions that are enough; None if it is not known how large the state is."""
    needed = max(_LEAST_PARTITIONS, exam.cores or 0)
    for it in exam.spread:
        rows, held = total(it.values), total(it.bytes)
        if rows is None or held is None:
            return None
        needed = max(needed, ceil(rows / _FEW_ROWS), ceil(held / _FEW_BYTES), it.subtasks or 0)
    return needed


def changed_bytes(exam: Exam, operator: OperatorState) -> float:
    """Bytes of deltas that a recent batch has written in a partition, on average."""
    written = sum(max(sizes) for _, _, sizes in operator.deltas(exam.recent))
    return written / max(len(exam.recent) * len(operator.partitions), 1)


def too_few(exam: Exam) -> Iterator[Advice]:
    """Too few partitions.

    A load gives all rows of a partition of 5 million in about a second, and a partition can have
    32 GiB ([Sizing](cluster.md#sizing)): this is four times the one and an eighth of the other.
    More partitions than cores do not make a batch shorter, so how long it takes counts only where
    `--cores` is given.
    """
    needed, worst = 0, ""
    for it in exam.spread:
        if it.subtasks is not None or None in it.values or None in it.bytes:
            continue
        here = len(it.partitions)
        rows, held = (median(n or 0 for n in numbers) for numbers in (it.values, it.bytes))
        changed = changed_bytes(exam, it)
        wanted = 0
        if rows > _MOST_ROWS or held > _MOST_BYTES:
            wanted = ceil(here * max(rows / _GOOD_ROWS, held / _GOOD_BYTES))
        if exam.cores and here < exam.cores and changed >= _MUCH_CHANGED and _is_busy(exam):
            wanted = max(wanted, exam.cores)
        if wanted > needed:
            needed = wanted
            worst = (
                f"{plural(here, 'partition')} of {it.label}, with {count(int(rows))} rows "
                f"({size(int(held))}) each (median), of which a batch writes "
                f"{size(int(changed))} of changes"
            )
    if not needed:
        return
    cores = f", for {exam.cores} cores" if exam.cores else ""
    to = more(exam.partitions, _key_groups(exam), needed)
    change, command = how(exam, to)
    yield Advice(
        name="too-few-partitions",
        measured=f"{worst}{cores}.",
        change=change,
        brings=f"{to / exam.partitions:.1f} times as many tasks, each with less state: after a "
        "start or a failure it is loaded sooner, and more cores and executors share the work.",
        command=command,
    )


def _is_busy(exam: Exam) -> bool:
    """Whether batches take half of the time or more."""
    mean, took = exam.pace.mean_ms, exam.pace.duration_ms
    return mean is not None and took is not None and 2 * took >= mean


def _key_groups(exam: Exam) -> int:
    return max((it.key_groups or 1 for it in exam.spread), default=1)


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
