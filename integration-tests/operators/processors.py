# ruff: noqa: ANN401, ARG002, N802, N803 - Spark names the methods and what they are given
"""Processors with state of each kind."""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
from pyspark.sql.streaming.state import GroupState
from pyspark.sql.streaming.stateful_processor import ExpiredTimerInfo, TimerValues

from kit.queries.processor import HOUR, Key, Processor, Rows, listed, milliseconds, part_of
from kit.queries.rows import START

TOP = 5
# The watermark passes this when the last file has been read, and nothing else is left to come.
OVER = 1000


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
