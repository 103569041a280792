# ruff: noqa: N802, N803 - Spark names the methods of a processor and what they are given
"""Aircraft that are not seen for two weeks: a timer that raises an alert, and a count of alerts.

Spark allows state with a time to live in processing time only, and a timer that the flights' own
time sets off in event time only: so these are two operators, one behind the other.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark user knows
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

ABSENT = timedelta(days=14)
ABSENT_MS = ABSENT // timedelta(milliseconds=1)

# An aircraft without an alert for so long is counted from one again. The time is that of the clock,
# of which the year of the demo takes minutes: the answer does not depend on when nothing came.
FORGOTTEN_MS = timedelta(days=30) // timedelta(milliseconds=1)

Key = tuple[str]


class Watch(StatefulProcessor):
    """Keeps when an aircraft was last seen, and tells it once it has been away too long.

    Flights may come again and in any order, as long as none is as late as an absence is long.
    """

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Make the state: milliseconds since 1970."""
        self._handle = handle
        self._last = handle.getValueState("last_seen", "milliseconds BIGINT")

    def handleInputRows(
        self,
        key: Key,
        rows: Iterator[Any],
        timerValues: TimerValues,  # noqa: ARG002
    ) -> Iterator[Row]:
        """Take in flights; the absences between them need no timer."""
        before = last = self._seen()
        for departure in sorted({row.departure for row in rows}):
            if last is not None and departure - last > ABSENT_MS:
                yield alert(key, last)
            if last is None or departure > last:
                last = departure
        if last is None or last == before:
            return
        self._last.update((last,))
        if before is not None:
            self._handle.deleteTimer(before + ABSENT_MS)
        self._handle.registerTimer(last + ABSENT_MS)

    def handleExpiredTimer(
        self,
        key: Key,
        timerValues: TimerValues,  # noqa: ARG002
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: ARG002
    ) -> Iterator[Row]:
        """Raise the alert; the aircraft is forgotten until it comes back."""
        last = self._seen()
        if last is not None:
            self._last.clear()
            yield alert(key, last)

    def _seen(self) -> int | None:
        value = self._last.get()
        return None if value is None else value[0]


class Numbering(StatefulProcessor):
    """Numbers the alerts of an aircraft; forgets those who have none for a long time."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Make the state, which lives for some time after each alert."""
        self._alerts = handle.getValueState("alerts", "alerts BIGINT", FORGOTTEN_MS)

    def handleInputRows(
        self,
        key: Key,
        rows: Iterator[Any],
        timerValues: TimerValues,  # noqa: ARG002
    ) -> Iterator[Row]:
        """Go on counting where the last alert ended."""
        found = self._alerts.get()
        number = 0 if found is None else found[0]
        for last in sorted(row.last_seen for row in rows):
            number += 1
            yield Row(aircraft=key[0], last_seen=last, number=number)
        self._alerts.update((number,))


def alert(key: Key, last: int) -> Row:
    """Say of an aircraft when it was last seen."""
    return Row(aircraft=key[0], last_seen=last)


def alerts(flights: DataFrame) -> DataFrame:
    """An alert for each absence, as soon as the watermark has passed its two weeks."""
    raised = (
        sightings(flights)
        .withColumn("departure", F.unix_millis("event_time"))
        .groupBy("aircraft")
        .transformWithState(Watch(), "aircraft STRING, last_seen BIGINT", "append", "EventTime")
    )
    numbered = raised.groupBy("aircraft").transformWithState(
        Numbering(), "aircraft STRING, last_seen BIGINT, number BIGINT", "append", "ProcessingTime"
    )
    return numbered.withColumn("last_seen", F.timestamp_millis("last_seen"))


def absences(flights: DataFrame) -> DataFrame:
    """The same asked for in batch: each departure beside the next one of its aircraft, if any."""
    by_time = Window.partitionBy("aircraft").orderBy("event_time")
    away = F.col("next") - F.col("event_time") > F.make_dt_interval(days=F.lit(ABSENT.days))
    return (
        sightings(flights)
        .withColumn("next", F.lead("event_time").over(by_time))
        .where(F.col("next").isNull() | away)
        .select(
            "aircraft",
            F.col("event_time").alias("last_seen"),
            F.row_number().over(by_time).cast("bigint").alias("number"),
        )
    )


def sightings(flights: DataFrame) -> DataFrame:
    """Scheduled departures by aircraft; those without a tail number are one aircraft's."""
    return flights.select(F.coalesce("tailnum", F.lit("none")).alias("aircraft"), "event_time")
