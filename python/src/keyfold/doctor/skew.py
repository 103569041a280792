"""A partition with much more state than the others, and the keys behind it."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.doctor.exam import Exam
from keyfold.doctor.operator_state import OperatorState
from keyfold.doctor.report import WITHOUT_STATE, Advice
from keyfold.errors import KeyfoldError
from keyfold.inspection.skew import measure
from keyfold.text.units import size

_LEAST_BYTES = 128 << 20
_TIMES = 4
# Bytes of files; a few seconds.
_MOST_READ = 256 << 20
_SHOWN = 3
# Characters of a key.
_MOST_SHOWN = 100
_HEAVY = 0.1


def skew(exam: Exam) -> Iterator[Advice]:
    """A partition with much more state than the others.

    Keys that are alike are spread evenly by their hash. A smaller partition loads in less than a
    second. Its rows are read for the keys if its files have 256.0 MiB at most, which takes seconds.
    """
    for it in exam.spread:
        held = [number for number in it.bytes if number is not None]
        if it.subtasks is not None or len(held) < max(len(it.bytes), 2):
            continue
        most = max(held)
        others = (sum(held) - most) / (len(held) - 1)
        if most >= _LEAST_BYTES and most >= _TIMES * others:
            partition = held.index(most)
            keys = _keys(exam, it, partition)
            yield Advice(
                name="skew",
                measured=f"Partition {partition} of {it.label} has {size(most)} of state, the "
                f"others {size(int(others))} each on average. {keys}",
                change="Split the heaviest keys, for example by one more grouping column, which a "
                "second aggregation removes; or leave them out, if they are such as NULL or an "
                "empty text. More partitions do not help: a key is in one. Another grouping needs "
                f"a new checkpoint location. {WITHOUT_STATE}",
                brings="tasks of one length: a batch waits for the largest partition, which has "
                f"{most / max(others, 1):,.0f} times the state of the others.",
                operator=it.metadata.id,
            )


def _keys(exam: Exam, operator: OperatorState, partition: int) -> str:
    look = f"`keyfold inspect {exam.path} skew` reads all rows and names the keys."
    read = operator.load_bytes(partition)
    if read > _MOST_READ:
        return f"Its {size(read)} of files were not read: {look}"
    try:
        found = measure(exam.storage, [operator.metadata], exam.batch, "bytes", _SHOWN, partition)
    except KeyfoldError as error:
        return f"Its rows cannot be read ({error.condition}), so no key is named."
    rows = max(sum(found.partitions["bytes"].to_pylist()), 1)
    heavy = [
        f"{row['key'][:_MOST_SHOWN]} ({row['bytes'] / rows:.0%})"
        for row in found.keys.to_pylist()[:_SHOWN]
        if row["bytes"] >= _HEAVY * rows
    ]
    if not heavy:
        return f"None of its keys has a tenth of that. {look}"
    return f"Its heaviest {'key is' if len(heavy) == 1 else 'keys are'} {', '.join(heavy)}."
