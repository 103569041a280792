"""State that PySpark's own operators keep, as their workers load it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

LONG_MS = 10**12


def counted(key: Any, frames: Any, state: Any) -> Iterator[pd.DataFrame]:
    del key
    known = state.get[0] if state.exists else 0
    total = known + sum(len(frame) for frame in frames)
    state.update((total,))
    yield pd.DataFrame({"n": [total]})


def timed(key: Any, frames: Any, state: Any) -> Iterator[pd.DataFrame]:
    """As `counted`, with a timeout that no int can hold."""
    yield from counted(key, frames, state)
    state.setTimeoutTimestamp(4 * LONG_MS)


class Visits(StatefulProcessor):
    """One of each kind of state variable, and timers."""

    def init(self, handle: Any) -> None:
        self.handle = handle
        self.count = handle.getValueState("count", "n long, mean double")
        self.names = handle.getListState("names", "s string, n int")
        self.seen = handle.getMapState("seen", "s string", "n long, v long")

    def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[Row]:  # noqa: N802
        del key, timers
        number = 0
        for row in rows:
            number += 1
            if row.s:
                self.names.appendValue((row.s, number))
                self.seen.updateValue((row.s,), (number, row.v))
        self.count.update((number, number / 3))
        self.handle.registerTimer(LONG_MS * 4 + number)
        yield Row(n=number)

    def close(self) -> None:
        pass


class Lasting(StatefulProcessor):
    """One of each kind of state variable, with a time to live."""

    def init(self, handle: Any) -> None:
        self.count = handle.getValueState("count", "n long", ttlDurationMs=LONG_MS)
        self.names = handle.getListState("names", "s string", ttlDurationMs=LONG_MS)
        self.seen = handle.getMapState("seen", "s string", "n long", ttlDurationMs=LONG_MS)

    def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[Row]:  # noqa: N802
        del key, timers
        number = 0
        for row in rows:
            number += 1
            if row.s:
                self.names.appendValue((row.s,))
                self.seen.updateValue((row.s,), (number,))
        self.count.update((number,))
        yield Row(n=number)

    def close(self) -> None:
        pass


class Total(StatefulProcessor):
    """A value, a list and a map of one column each, as the first release of a query has them."""

    columns = "n int"

    def init(self, handle: Any) -> None:
        self.total = handle.getValueState("total", self.columns)
        self.parts = handle.getListState("parts", self.columns)
        self.by_name = handle.getMapState("by_name", "s string", self.columns)

    def row(self, number: int) -> tuple[Any, ...]:
        return (number,)

    def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[Row]:  # noqa: N802
        del key, timers
        numbers = [row.v for row in rows]
        self.total.update(self.row(sum(numbers)))
        for number in numbers:
            self.parts.appendValue(self.row(number))
            self.by_name.updateValue((f"n{number % 3}",), self.row(number))
        yield Row(n=len(numbers))

    def close(self) -> None:
        pass


class WiderTotal(Total):
    """The next release: a wider column and one more."""

    columns = "n long, note string"

    def row(self, number: int) -> tuple[Any, ...]:
        return (number + 2**40, None if number % 2 else f"note {number}")
