# ruff: noqa: ARG002, N802, N803 - Spark names the methods and what they are given
"""A processor with state of every kind, which is inside the store for most of its time."""

from collections.abc import Iterable
from typing import Any

from pyspark.sql.streaming.stateful_processor import ExpiredTimerInfo, TimerValues

from kit.queries.processor import HOUR, Key, Processor, Rows, listed, milliseconds, part_of
from kit.queries.rows import START

# One list grows long, and is read often: a stop of the query most likely falls into a read of it.
LONG, VALUES_OF_LONG, VALUES = "k0", 300, 3
READS = 20


def values_of(key: str, value: int) -> range:
    """What a key's list takes for a row."""
    return range(value, value + (VALUES_OF_LONG if key == LONG else VALUES))


class Everything(Processor):
    """Counts rows in a value, a list and two maps; one map's entries go with their timers."""

    columns = "key string, rows long, total long, listed long, parts string, hour long"

    def make(self) -> None:
        self.totals = self.handle.getValueState("totals", "rows long, total long")
        self.values = self.handle.getListState("values", "value long")
        self.parts = self.handle.getMapState("parts", "part long", "rows long")
        self.hours = self.handle.getMapState("hours", "hour long", "rows long")

    def take(self, key: str, rows: list[Any], _timers: TimerValues) -> Iterable[tuple[Any, ...]]:
        count, total = self.totals.get() if self.totals.exists() else (0, 0)
        self.totals.update((count + len(rows), total + sum(row.value for row in rows)))
        self.values.appendList([(value,) for row in rows for value in values_of(key, row.value)])
        for row in rows:
            part = (part_of(row.id),)
            if row.value % 10 == 0:
                self.parts.removeKey(part)
            else:
                before = self.parts.getValue(part) if self.parts.containsKey(part) else (0,)
                self.parts.updateValue(part, (before[0] + 1,))
            hour = (row.minute // HOUR,)
            before = self.hours.getValue(hour) if self.hours.containsKey(hour) else (0,)
            self.hours.updateValue(hour, (before[0] + 1,))
            self.handle.registerTimer(milliseconds((hour[0] + 1) * HOUR))
        found = {sum(value for (value,) in self.values.get()) for _ in range(READS)}
        parts = listed((part, its) for (part,), (its,) in self.parts.iterator())
        for listed_total in found:
            yield key, *self.totals.get(), listed_total, parts, -1

    def handleExpiredTimer(
        self, key: Key, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo
    ) -> Rows:
        hour = (expiredTimerInfo.getExpiryTimeInMs() // 60_000 - START) // HOUR - 1
        rows = self.hours.getValue((hour,))
        self.hours.removeKey((hour,))
        return self.given([(key[0], rows[0], 0, 0, "", hour)])
