"""Whether executors have the memory and the disk that their settings promise to state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from keyfold.settings import MEMORY_KEY
from keyfold.setup.facts import ExecutorFacts, Folder, Memory
from keyfold.setup.report import SetupFinding
from keyfold.text.units import size

_OVERHEAD_KEY = "spark.executor.memoryOverhead"
# A file of spilled state, the smallest.
_SPILL_FILE = 16 << 20
_IN_MEMORY = {"tmpfs", "ramfs"}
# For the JVM and Python beside heap and budget, as Spark's own overhead: docs/cluster.md, Sizing.
_BESIDE = 384 << 20
_SHARE_BESIDE = 10


def memory(executors: Sequence[ExecutorFacts]) -> SetupFinding:
    """Whether each executor can use its whole budget beside its heap."""
    known = [(it, it.memory) for it in executors if it.memory is not None]
    troubles = [
        *(_ignored(it, its) for it, its in known if its.budget_set not in {None, its.budget}),
        *(_beyond_overhead(it, its) for it, its in known if not _fits_overhead(its)),
        *_beyond_machine(known),
    ]
    if not troubles:
        every = [its for _, its in known]
        return SetupFinding("memory", _summary(every) + _room(every))
    # Several executors need the same change.
    remedies = dict.fromkeys(str(it.remedy) for it in troubles)
    return SetupFinding("memory", "; ".join(it.value for it in troubles), " ".join(remedies))


def local_disk(executors: Sequence[ExecutorFacts]) -> SetupFinding:
    """Whether each executor can write state that does not fit into its budget to a disk."""
    folders = [(it, folder) for it in executors for folder in it.folders]
    wrong = [
        f"executor {it.id} on {it.host}: {folder.path} {problem}"
        for it, folder in folders
        if (problem := _problem(folder)) is not None
    ]
    wrong += [
        f"executor {it.id} on {it.host}: none of its folders could be created"
        for it in executors
        if it.memory is not None and not it.folders
    ]
    if wrong:
        return SetupFinding(
            "local disk",
            "; ".join(wrong),
            "Give executors a folder on a disk with free space: spark.local.dir, in a standalone "
            "cluster SPARK_LOCAL_DIRS of the workers, on YARN yarn.nodemanager.local-dirs, on "
            "Kubernetes a volume whose name begins with spark-local-dir-.",
        )
    free = [folder.free for _, folder in folders if folder.free is not None]
    if not free:
        return SetupFinding("local disk", "can be written; its free space is not known")
    return SetupFinding("local disk", f"{_span(free)} free for state beyond the budget")


def _ignored(it: ExecutorFacts, its: Memory) -> SetupFinding:
    return SetupFinding(
        "memory",
        f"executor {it.id}: the budget is {size(its.budget)}, not the {size(its.budget_set)} that "
        "are set",
        f"Set {MEMORY_KEY} where Spark is started: an executor keeps the first value that it gets.",
    )


def _fits_overhead(its: Memory) -> bool:
    # A budget that nobody has set is half of the overhead: the JVM needs more than that at times.
    if its.overhead is None or its.budget_set is None:
        return True
    return its.budget + its.beside_heap <= its.overhead


def _beyond_overhead(it: ExecutorFacts, its: Memory) -> SetupFinding:
    advised = its.budget + _beside(its)
    return SetupFinding(
        "memory",
        f"executor {it.id}: a budget of {size(its.budget)} and the {size(its.beside_heap)} that "
        f"its JVM has taken do not fit into a memory overhead of {size(its.overhead)}",
        f"Raise {_OVERHEAD_KEY} to {-(-advised >> 20)}m, more if the query runs Python, or "
        f"lower {MEMORY_KEY}: the cluster manager kills an executor that takes more.",
    )


def _beside(its: Memory) -> int:
    """What a budget that is set should leave of the overhead."""
    return max(its.beside_heap, _BESIDE, its.heap // _SHARE_BESIDE)


def _room(every: Iterable[Memory]) -> str:
    """What budgets leave of the overhead; and what is advised, if one that is set leaves less."""
    limited = [(it, it.overhead) for it in every if it.overhead is not None]
    if not limited:
        return ""
    left = _span([max(0, overhead - it.budget) for it, overhead in limited])
    advised = [
        _beside(it)
        for it, overhead in limited
        if it.budget_set is not None and it.budget + _beside(it) > overhead
    ]
    less = f", less than the {_span(advised)} that are advised" if advised else ""
    return f"; {left} left for the JVM and Python{less}"


def _beyond_machine(known: Iterable[tuple[ExecutorFacts, Memory]]) -> Iterator[SetupFinding]:
    """Executors that share a machine count together, unless each has a container."""

    def place(one: tuple[ExecutorFacts, Memory]) -> tuple[str, str]:
        it, its = one
        return it.host, "" if its.overhead is None else it.id

    for _, group in groupby(sorted(known, key=place), key=place):
        here = list(group)
        needed = sum(
            its.heap + its.budget + its.beside_heap + (its.off_heap or 0) for _, its in here
        )
        available = min(its.machine for _, its in here)
        if needed > available:
            names = ", ".join(it.id for it, _ in here)
            noun = "executor" if len(here) == 1 else "executors"
            parts = _summary([its for _, its in here])
            yield SetupFinding(
                "memory",
                f"{noun} {names} on {here[0][0].host}: {parts}; together up to {size(needed)}",
                f"Lower {MEMORY_KEY}, the heap (spark.executor.memory; in local mode "
                "spark.driver.memory) or the number of executors on a machine, or give it more "
                "memory.",
            )


def _summary(every: Sequence[Memory]) -> str:
    parts = [
        f"budget {_span([it.budget for it in every])}",
        f"heap {_span([it.heap for it in every])}",
    ]
    overheads = [it.overhead for it in every if it.overhead is not None]
    if overheads:
        parts.append(f"overhead {_span(overheads)}")
    parts.append(f"machine or container {_span([it.machine for it in every])}")
    return ", ".join(parts)


def _span(sizes: Sequence[int]) -> str:
    least, most = size(min(sizes)), size(max(sizes))
    return least if least == most else f"{least} to {most}"


def _problem(folder: Folder) -> str | None:
    if folder.problem is not None:
        return f"cannot be written: {folder.problem}"
    if folder.kind in _IN_MEMORY:
        return f"is in memory ({folder.kind}): state beyond the budget would take memory again"
    if folder.free is not None and folder.free < _SPILL_FILE:
        return f"has {size(folder.free)} free"
    return None
