# ruff: noqa: ARG002, N802, N803 - Spark names the methods and what they are given
"""A processor with state of every kind, of which it keeps so much and no more."""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
from pyspark.sql.streaming.state import GroupState
from pyspark.sql.streaming.stateful_processor import ExpiredTimerInfo, TimerValues

from kit.queries.processor import Key, Processor, Rows, milliseconds
from kit.queries.rows import START

LISTED = 20
# A row's entry in the map goes as many minutes later.
KEPT_MINUTES = 10


class Bounded(Processor):
    """Counts rows; has the latest in a list, and those of the last minutes in a map, by minute."""

    columns = "key string, rows long, total long, listed long"

    def make(self) -> None:
        self.totals = self.handle.getValueState("totals", "rows long, total long")
        self.values = self.handle.getListState("values", "value long")
        self.minutes = self.handle.getMapState("minutes", "minute long", "rows long")

    def take(self, key: str, rows: list[Any], _timers: TimerValues) -> Iterable[tuple[Any, ...]]:
        count, total = self.totals.get() if self.totals.exists() else (0, 0)
        self.totals.update((count + len(rows), total + sum(row.value for row in rows)))
        self.values.appendList([(row.value,) for row in rows])
        values = list(self.values.get())
        if len(values) > LISTED:
            self.values.put(values[-LISTED:])
        for row in rows:
            minute = (row.minute,)
            before = self.minutes.getValue(minute) if self.minutes.containsKey(minute) else (0,)
            self.minutes.updateValue(minute, (before[0] + 1,))
            self.handle.registerTimer(milliseconds(row.minute + KEPT_MINUTES))
        yield key, *self.totals.get(), min(len(values), LISTED)

    def handleExpiredTimer(
        self, key: Key, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo
    ) -> Rows:
        minute = expiredTimerInfo.getExpiryTimeInMs() // 60_000 - START - KEPT_MINUTES
        if not self.minutes.containsKey((minute,)):
            raise AssertionError(f"a timer came twice, or without its row: {key} {minute}")
        self.minutes.removeKey((minute,))
        return self.given([])


def ended(key: Key, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    """For applyInPandasWithState: the rows of a key, once there were none for some minutes."""
    (rows,) = state.get if state.exists else (0,)
    if state.hasTimedOut:
        state.remove()
        yield pd.DataFrame([[*key, rows]], columns=["key", "rows"])
        return
    newest = 0
    for frame in frames:
        rows += len(frame)
        newest = max(newest, int(frame["minute"].max()))
    state.update((rows,))
    state.setTimeoutTimestamp(milliseconds(newest + KEPT_MINUTES))
