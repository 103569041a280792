# ruff: noqa: N802, N803 - Spark names the methods and what they are given
"""Queries that keep state by code of their own, sent to executors as it is.

A processor is written once, and given rows in both of the forms that Spark has for them.
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import pandas as pd
from pyspark.sql import DataFrame, Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.streaming.stateful_processor import TimerValues

from kit.queries.rows import START
from kit.queries.streams import minute

HOUR, CENTURY_MS = 60, 100 * 365 * 24 * 60 * 60 * 1000
PARTS = 5
TAKEN = ["id", "value", "minute", "at"]
# Spark 4.2 wants another batch after every batch of a query in processing time, which with
# availableNow would have no end.
NO_EMPTY_BATCHES = {"spark.sql.streaming.noDataMicroBatches.enabled": "false"}

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


def processed(
    stream: DataFrame,
    processor: Processor,
    mode: str,
    time: str,
    **options: Any,
) -> DataFrame:
    rows = stream.select("key", "id", "value", "at", minute("at").alias("minute")).groupBy("key")
    call = rows.transformWithStateInPandas if processor.in_pandas else rows.transformWithState
    return call(processor, processor.columns, mode, time, **options)
