# ruff: noqa: N802, N803 - Spark names the methods and what they are given
"""Code that keeps state by itself, sent to Spark's workers as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.streaming.stateful_processor import ExpiredTimerInfo, TimerValues

# What a processor may keep; those with a time to live keep it longer than any run.
KINDS = ("value", "list", "map", "timers", "value, ttl", "list, ttl", "map, ttl")
SAID = "key string, rows long, said string"
CENTURY_MS, HOUR_MS = 100 * 365 * 24 * 3_600_000, 3_600_000


class Keeper(StatefulProcessor):
    """Keeps what it is told to, and says what it keeps of a key after each of its batches."""

    def __init__(self, kinds: tuple[str, ...], *, pandas: bool) -> None:
        self.kinds, self.in_pandas = kinds, pandas

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        self.values = []
        self.lists = []
        self.maps = []
        for kind in self.kinds:
            what, _, lives = kind.partition(", ")
            name, ttl = what + lives, CENTURY_MS if lives else None
            if what == "value":
                self.values.append(handle.getValueState(name, "n long, last string", ttl))
            elif what == "list":
                self.lists.append(handle.getListState(name, "v long", ttl))
            elif what == "map":
                self.maps.append(handle.getMapState(name, "v long, x string", "n long", ttl))

    def handleInputRows(
        self, key: tuple[Any, ...], rows: Iterator[Any], timerValues: TimerValues
    ) -> Iterator[Any]:
        values = sorted(self._values(rows))
        self._keep(values, str(values[-1]))
        if 7 in values:
            for state in self.lists:
                state.put([(7,)])
        if 3 in values:
            for state in self.maps:
                state.removeKey((3, "xxx"))
        if 9 in values:
            for state in [*self.values, *self.lists, *self.maps]:
                state.clear()
        if "timers" in self.kinds:
            self.handle.registerTimer(timerValues.getCurrentWatermarkInMs() + HOUR_MS)
        return self._given([(repr(key), len(values), self._kept())])

    def handleInitialState(
        self, key: tuple[Any, ...], initialState: Any, timerValues: TimerValues
    ) -> None:
        del key, timerValues
        self._keep(sorted(self._values([initialState])), "initial")

    def handleExpiredTimer(
        self, key: tuple[Any, ...], timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo
    ) -> Iterator[Any]:
        del timerValues
        kept = self._kept()
        for state in [*self.values, *self.lists, *self.maps]:
            state.clear()
        return self._given([(repr(key), expiredTimerInfo.getExpiryTimeInMs(), kept)])

    def close(self) -> None:
        """Nothing to close."""

    def _keep(self, values: list[int], last: str) -> None:
        for state in self.values:
            before = state.get()[0] if state.exists() else 0
            state.update((before + len(values), last))
        for state in self.lists:
            state.appendList([(it,) for it in values])
        for state in self.maps:
            for it in values:
                part = (it, "x" * it)
                n = state.getValue(part)[0] if state.containsKey(part) else 0
                state.updateValue(part, (n + 1,))

    def _values(self, rows: Iterable[Any]) -> Iterator[int]:
        for it in rows:
            if self.in_pandas:
                yield from map(int, it["v"])
            else:
                yield it.v

    def _kept(self) -> str:
        values = [tuple(it.get()) if it.exists() else None for it in self.values]
        lists = [sorted(v for (v,) in it.get()) for it in self.lists]
        maps = [sorted((tuple(k), tuple(v)) for k, v in it.iterator()) for it in self.maps]
        return repr((values, lists, maps))

    def _given(self, rows: list[tuple[Any, ...]]) -> Iterator[Any]:
        if self.in_pandas:
            yield pd.DataFrame(rows, columns=["key", "rows", "said"])
        else:
            yield from (Row(key=key, rows=count, said=said) for key, count, said in rows)


def counted_by_group(
    key: tuple[Any, ...], frames: Iterable[pd.DataFrame], state: Any
) -> Iterator[pd.DataFrame]:
    """For `applyInPandasWithState`: counts rows, and forgets a key when its time is over."""
    if state.hasTimedOut:
        (count,) = state.get
        state.remove()
        yield pd.DataFrame({"key": [repr(key)], "rows": [-count], "said": ["over"]})
        return
    count = sum(map(len, frames)) + (state.get[0] if state.exists else 0)
    state.update((count,))
    if state.getCurrentWatermarkMs() > 0:
        state.setTimeoutTimestamp(state.getCurrentWatermarkMs() + HOUR_MS)
    yield pd.DataFrame({"key": [repr(key)], "rows": [count], "said": ["on"]})


def counted_for_ever(
    key: tuple[Any, ...], frames: Iterable[pd.DataFrame], state: Any
) -> Iterator[pd.DataFrame]:
    """The same without a timeout."""
    count = sum(map(len, frames)) + (state.get[0] if state.exists else 0)
    state.update((count,))
    yield pd.DataFrame({"key": [repr(key)], "rows": [count], "said": ["on"]})
