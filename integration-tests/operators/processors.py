# ruff: noqa: ANN401, ARG002, N802, N803 - Spark names the methods and what they are given
"""Code that keeps state of its own, sent to executors as it is.

A processor is written once, and given rows in both of the forms that Spark has for them.
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import pandas as pd
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.streaming.state import GroupState
from pyspark.sql.streaming.stateful_processor import ExpiredTimerInfo, TimerValues

from inputs import START

TAKEN = ["id", "value", "minute", "at"]
HOUR, DAY_MS = 60, 24 * 60 * 60 * 1000
TOP = 5
PARTS = 5
# The watermark passes this when the last file has been read, and nothing else is left to come.
OVER = 1000

Rows = Iterator[Any]
Key = tuple[str]


def milliseconds(minute: int) -> int:
    return (START + minute) * 60_000


def part_of(number: int) -> int:
    return number % PARTS


def listed(counts: Iterable[tuple[int, int]]) -> str:
    return " ".join(f"{part}:{rows}" for part, rows in sorted(counts))


class Processor(StatefulProcessor):
    """Gives the rows of a key, ordered by id, to `take`, whose tuples have `columns`."""

    columns: ClassVar[str]

    def __init__(self, *, pandas: bool) -> None:
        self.in_pandas = pandas

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        self.make()

    def make(self) -> None:
        """Makes the state."""
        raise NotImplementedError

    def take(self, key: str, rows: list[Any], timers: TimerValues) -> Iterable[tuple[Any, ...]]:
        raise NotImplementedError

    def handleInputRows(self, key: Key, rows: Rows, timerValues: TimerValues) -> Rows:
        taken = sorted(self._taken(rows), key=lambda row: row.id)
        return self.given(list(self.take(key[0], taken, timerValues)))

    def given(self, rows: list[tuple[Any, ...]]) -> Rows:
        """Rows in the form that Spark wants back."""
        names = [column.split()[0] for column in self.columns.split(",")]
        if not self.in_pandas:
            yield from (Row(**dict(zip(names, row, strict=True))) for row in rows)
        elif rows:
            yield pd.DataFrame(rows, columns=names)

    def _taken(self, rows: Rows) -> Iterator[Any]:
        for row in rows:
            if self.in_pandas:
                yield from row[TAKEN].itertuples(index=False)
            else:
                yield row


class Totals(Processor):
    """Value state: rows and their sum; a sum may be given to begin with."""

    columns = "key string, rows long, total long"

    def make(self) -> None:
        self.totals = self.handle.getValueState("totals", "rows long, total long")

    def take(self, key: str, rows: list[Any], _timers: TimerValues) -> Iterable[tuple[Any, ...]]:
        yield key, *self.add(rows)

    def add(self, rows: list[Any]) -> tuple[int, int]:
        count, total = self.totals.get() if self.totals.exists() else (0, 0)
        now = (count + len(rows), total + sum(row.value for row in rows))
        self.totals.update(now)
        return now

    def handleInitialState(self, _key: Key, initialState: Any, timerValues: TimerValues) -> None:
        total = initialState["total"].iloc[0] if self.in_pandas else initialState.total
        self.totals.update((0, int(total)))


class Greatest(Processor):
    """List state: the greatest values, appended while there is room and written anew after that."""

    columns = "key string, greatest string"

    def make(self) -> None:
        self.greatest = self.handle.getListState("greatest", "value long")

    def take(self, key: str, rows: list[Any], _timers: TimerValues) -> Iterable[tuple[Any, ...]]:
        for row in rows:
            kept = [value for (value,) in self.greatest.get()]
            if len(kept) < TOP:
                self.greatest.appendValue((row.value,))
            else:
                best = sorted([*kept, row.value])[-TOP:]
                self.greatest.clear()
                self.greatest.put([(value,) for value in best[1:]])
                self.greatest.appendList([(best[0],)])
        yield key, " ".join(map(str, sorted(value for (value,) in self.greatest.get())))


class Parts(Processor):
    """Map state: rows by part of their id; a value that ends in 0 takes its part away."""

    columns = "key string, parts string"

    def make(self) -> None:
        self.parts = self.handle.getMapState("parts", "part long", "rows long")

    def take(self, key: str, rows: list[Any], _timers: TimerValues) -> Iterable[tuple[Any, ...]]:
        for row in rows:
            part = (part_of(row.id),)
            if row.value % 10 == 0:
                self.parts.removeKey(part)
            else:
                before = self.parts.getValue(part) if self.parts.containsKey(part) else None
                self.parts.updateValue(part, ((before[0] if before else 0) + 1,))
        yield key, listed((part, rows) for (part,), (rows,) in self.parts.iterator())


class Hours(Processor):
    """Timers of event time: the rows of an hour come out when it is over."""

    columns = "key string, hour long, rows long"

    def make(self) -> None:
        self.hours = self.handle.getMapState("hours", "hour long", "rows long")

    def take(self, _key: str, rows: list[Any], _timers: TimerValues) -> Iterable[tuple[Any, ...]]:
        for row in rows:
            hour = row.minute // HOUR
            before = self.hours.getValue((hour,)) if self.hours.containsKey((hour,)) else (0,)
            self.hours.updateValue((hour,), (before[0] + 1,))
            end = milliseconds((hour + 1) * HOUR)
            self.handle.registerTimer(end)
            # Would be the first to come out, and with an hour that is not there.
            wrong = end - 1
            self.handle.registerTimer(wrong)
            if wrong in self.handle.listTimers():
                self.handle.deleteTimer(wrong)
        return ()

    def handleExpiredTimer(
        self,
        key: Key,
        timerValues: TimerValues,
        expiredTimerInfo: ExpiredTimerInfo,
    ) -> Rows:
        hour = (expiredTimerInfo.getExpiryTimeInMs() // 60_000 - START) // HOUR - 1
        rows = self.hours.getValue((hour,))
        self.hours.removeKey((hour,))
        return self.given([(key[0], hour, rows[0])])


class Later(Totals):
    """Timers of processing time: the totals come out in the batch after that of a row."""

    def take(self, _key: str, rows: list[Any], timers: TimerValues) -> Iterable[tuple[Any, ...]]:
        self.add(rows)
        self.handle.registerTimer(timers.getCurrentProcessingTimeInMs() + 1)
        return ()

    def handleExpiredTimer(self, key: Key, timerValues: TimerValues, expiredTimerInfo: Any) -> Rows:
        return self.given([(key[0], *self.totals.get())])


class Forgetful(Processor):
    """State with a time to live: of a day, which nothing here outlives, and of no batch at all."""

    columns = "key string, total long, parts string, remembered long"

    def make(self) -> None:
        state = self.handle
        self.total = state.getValueState("total", "total long", DAY_MS)
        self.parts = state.getMapState("parts", "part long", "rows long", DAY_MS)
        self.gone = [
            state.getValueState("goneValue", "value long", 1),
            state.getListState("goneList", "value long", 1),
            state.getMapState("goneMap", "key long", "value long", 1),
        ]

    def take(self, key: str, rows: list[Any], _timers: TimerValues) -> Iterable[tuple[Any, ...]]:
        remembered = sum(state.exists() for state in self.gone)
        value, values, mapped = self.gone
        for row in rows:
            value.update((row.value,))
            values.appendValue((row.value,))
            mapped.updateValue((row.id,), (row.value,))
            part = (part_of(row.id),)
            before = self.parts.getValue(part) or (0,)
            self.parts.updateValue(part, (before[0] + 1,))
        total = (self.total.get() or (0,))[0] + sum(row.value for row in rows)
        self.total.update((total,))
        parts = listed((part, rows) for (part,), (rows,) in self.parts.iterator())
        yield key, total, parts, remembered


class FirstSeen(Processor):
    """Each row once, with its time, for an operator behind it."""

    columns = "key string, id long, value long, at timestamp"

    def make(self) -> None:
        self.seen = self.handle.getMapState("seen", "id long", "seen boolean")

    def take(self, key: str, rows: list[Any], _timers: TimerValues) -> Iterable[tuple[Any, ...]]:
        for row in rows:
            if not self.seen.containsKey((row.id,)):
                self.seen.updateValue((row.id,), (True,))
                yield key, row.id, row.value, row.at


def keep(key: Key, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    """For applyInPandasWithState: rows and their sum, once more when all is over."""
    rows, total = state.get if state.exists else (0, 0)
    if state.hasTimedOut:
        state.remove()
    else:
        for frame in frames:
            rows += len(frame)
            total += int(frame["value"].sum())
        state.update((rows, total))
        state.setTimeoutTimestamp(milliseconds(OVER))
    names = ["key", "over", "rows", "total"]
    yield pd.DataFrame([[*key, state.hasTimedOut, rows, total]], columns=names)
