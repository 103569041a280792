"""A processor whose state has a time to live."""

from collections.abc import Iterable
from typing import Any

from pyspark.sql.streaming.stateful_processor import TimerValues

from kit.queries.processor import CENTURY_MS, Processor, listed, part_of


class Forgetful(Processor):
    """State with a time to live: of a century, which nothing here outlives, and of no batch."""

    columns = "key string, total long, parts string, remembered long"

    def make(self) -> None:
        state = self.handle
        self.total = state.getValueState("total", "total long", CENTURY_MS)
        self.parts = state.getMapState("parts", "part long", "rows long", CENTURY_MS)
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
