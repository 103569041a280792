"""Queries that keep state by code of their own: transformWithState in rows and in pandas."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql.streaming.state import GroupStateTimeout

from kit.lines import HAS_ROWS_PROCESSOR
from kit.queries.builtin import windowed
from kit.queries.forgetful import Forgetful
from kit.queries.processor import (
    HOUR,
    NO_EMPTY_BATCHES,
    Processor,
    listed,
    part_of,
    processed,
)
from kit.queries.rows import Row
from kit.queries.streams import Streams
from operators.builtin_cases import SAVE, once_per_window
from operators.cases import Answer, Case, not_rescaled, under_format_1
from operators.inputs import FILES, everything, rows_of, settled, timely
from operators.processors import (
    TOP,
    FirstSeen,
    Greatest,
    Hours,
    Later,
    Parts,
    Totals,
    keep,
)

Ask = Callable[[Streams], DataFrame]

# Sums to begin with; the last key has no rows.
INITIAL = {"k1": 1000, "k3": 3000, "k9": 9000}


def rows_by_key(rows: list[Row]) -> Iterator[tuple[str, list[Row]]]:
    for key in sorted({row.key for row in rows}):
        yield key, [row for row in rows if row.key == key]


def totals(rows: list[Row]) -> Iterator[tuple[str, int, int]]:
    for key, its in rows_by_key(rows):
        yield key, len(its), sum(row.value for row in its)


def totals_from_initial() -> Answer:
    return ((key, rows, total + INITIAL.get(key, 0)) for key, rows, total in totals(everything()))


def greatest() -> Answer:
    for key, its in rows_by_key(everything()):
        yield key, " ".join(map(str, sorted(row.value for row in its)[-TOP:]))


def parts() -> Answer:
    found: dict[str, dict[int, int]] = {}
    for file in range(FILES):
        for row in sorted(rows_of(file)):
            counts = found.setdefault(row.key, {})
            part = part_of(row.id)
            counts[part] = 0 if row.value % 10 == 0 else counts.get(part, 0) + 1
    for key, counts in found.items():
        yield key, listed((part, rows) for part, rows in counts.items() if rows)


def hours() -> Answer:
    counts = Counter((row.key, row.minute // HOUR) for row in settled())
    return ((*group, rows) for group, rows in counts.items())


def remembered() -> Answer:
    for key, its in rows_by_key(everything()):
        counts = Counter(part_of(row.id) for row in its)
        yield key, sum(row.value for row in its), listed(counts.items()), 0


def later_totals() -> Answer:
    """Without the key that came with the last batch only."""
    return ((key, *total) for key, *total in totals(everything()) if key != "end")


def kept() -> Answer:
    return ((key, True, *of_key) for key, *of_key in totals(timely()))


def over(streams: Streams) -> DataFrame:
    state = "rows long, total long"
    return streams.timed.groupBy("key").applyInPandasWithState(
        keep,
        f"key string, over boolean, {state}",
        state,
        "update",
        GroupStateTimeout.EventTimeTimeout,
    )


def from_initial(streams: Streams, *, pandas: bool) -> DataFrame:
    session = streams.rows.sparkSession
    initial = session.createDataFrame(list(INITIAL.items()), "key string, total long")
    processor = Totals(pandas=pandas)
    return processed(streams.rows, processor, "update", "none", initialState=initial.groupBy("key"))


def then_windows(streams: Streams, *, pandas: bool) -> DataFrame:
    processor = FirstSeen(pandas=pandas)
    first = processed(streams.timed, processor, "append", "EventTime", eventTimeColumnName="at")
    return windowed(first)


def in_both_forms() -> Iterator[Case]:
    """The same processors given rows, and given frames."""
    for pandas in (False, True) if HAS_ROWS_PROCESSOR else (True,):
        form = "InPandas" if pandas else ""
        yield from (
            replace(
                case,
                name=f"transformWithState{form}, {case.name}",
                operators=(*case.operators, f"transformWithState{form or 'InPySpark'}Exec"),
            )
            for case in cases_of(pandas=pandas)
        )


def cases_of(*, pandas: bool) -> Iterator[Case]:
    def case(name: str, processor: Processor, time: str, answer: Callable[[], Answer]) -> Case:
        timed = time == "EventTime"
        mode = "append" if timed else "update"
        return Case(
            name,
            lambda s: processed(s.timed if timed else s.rows, processor, mode, time),
            answer,
            (),
            mode,
            settings=NO_EMPTY_BATCHES if time == "ProcessingTime" else {},
        )

    yield case("value", Totals(pandas=pandas), "None", lambda: totals(everything()))
    yield case("list", Greatest(pandas=pandas), "None", greatest)
    yield case("map", Parts(pandas=pandas), "None", parts)
    timers = case("timers of event time", Hours(pandas=pandas), "EventTime", hours)
    yield replace(timers, counted=("numRegisteredTimers", "numDeletedTimers"))
    later = case("timers of processing time", Later(pandas=pandas), "ProcessingTime", later_totals)
    yield replace(later, counted=("numRegisteredTimers", "numDeletedTimers"))
    forgetful = case("time to live", Forgetful(pandas=pandas), "ProcessingTime", remembered)
    yield replace(forgetful, counted=("numValuesRemovedDueToTTLExpiry",))
    initial = case("initial state", Totals(pandas=pandas), "None", totals_from_initial)
    yield replace(initial, question=lambda s: from_initial(s, pandas=pandas))
    yield Case("then windows", lambda s: then_windows(s, pandas=pandas), once_per_window, (SAVE,))


PROCESSORS = tuple(in_both_forms())
LIST, TIMERS, TTL = (
    f"transformWithState, {name}" for name in ("list", "timers of event time", "time to live")
)
KEPT = Case("applyInPandasWithState", over, kept, ("applyInPandasWithState",), mode="update")

PROCESSING = (
    *PROCESSORS,
    KEPT,
    *(under_format_1(case) for case in PROCESSORS if case.name in {LIST, TIMERS}),
    *(not_rescaled(case) for case in (*PROCESSORS, KEPT) if case.name in {TIMERS, TTL, KEPT.name}),
)
