"""State from which nothing is ever removed."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.doctor.exam import Exam
from keyfold.doctor.operator_state import OperatorState
from keyfold.doctor.report import NOTE, WITHOUT_STATE, Advice
from keyfold.errors import KeyfoldError
from keyfold.format.footer import total
from keyfold.spark_log.batch import find_batch
from keyfold.state.walk import Walk
from keyfold.text.units import count, duration, plural

_KEEPS_ALL = {"dedupe", "symmetricHashJoin"}
_LEAST_BATCHES = 20
_LEAST_ROWS = 1_000_000
_DAYS = 30
_DAY_MS = 24 * 3_600_000


def forever(exam: Exam) -> Iterator[Advice]:
    """State from which nothing is ever removed.

    These operators remove rows by a watermark only. Growth that slows down is of keys that come
    again. Other operators may have few keys, and state variables a time to live.
    """
    batches, mean = exam.pace.batches, exam.pace.mean_ms
    if exam.pace.has_watermark or mean is None or len(batches) < _LEAST_BATCHES:
        return
    for it in exam.operators:
        rows = total(it.values)
        if it.metadata.name not in _KEEPS_ALL or rows is None or rows < _LEAST_ROWS:
            continue
        # The oldest may lose its files while they are read.
        first, middle = batches[1], batches[len(batches) // 2]
        before, between = _rows(exam, it, first), _rows(exam, it, middle)
        if before is None or between is None or not before < between < rows:
            continue
        slope = (between - before) / (middle - first), (rows - between) / (batches[-1] - middle)
        doubled = rows / slope[1] * mean
        if slope[1] < slope[0] / 2 or doubled > _DAYS * _DAY_MS:
            continue
        yield Advice(
            name="grows-forever",
            measured=f"{it.title} has {plural(rows, 'row')}, "
            f"{count(int(slope[1]))} more in each batch, and no batch has a watermark. At that "
            f"rate they double in {duration(doubled)}.",
            change="Give the query withWatermark, and use it: dropDuplicatesWithinWatermark, or a "
            "condition on both times of a join. Without, none of its rows is ever removed. Such a "
            f"query may need a new checkpoint location. {WITHOUT_STATE} If keys are few and will "
            "all have come, change nothing.",
            brings="rows are removed when they are behind the watermark, and the state stays as "
            "large as the time that it covers.",
            operator=it.metadata.id,
            rank=NOTE,
        )


def _rows(exam: Exam, operator: OperatorState, number: int) -> int | None:
    try:
        parts = Walk(exam.storage, find_batch(exam.storage, number)).parts(operator.metadata)
    except KeyfoldError:
        return None
    return total(part.values for store in parts for part in store)
