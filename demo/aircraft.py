"""A running record per aircraft, kept by a function of pandas as Spark calls it for each group."""

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from datetime import datetime, timezone
from functools import reduce
from operator import add

import pandas as pd  # type: ignore[import-untyped]
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark user knows
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

STATE = """
    flights BIGINT, cancelled BIGINT, miles BIGINT, longest_delay BIGINT,
    first_departure BIGINT, last_departure BIGINT
"""
OUTPUT = f"aircraft STRING, complete BOOLEAN, {STATE}"
COLUMNS = ["aircraft", "complete", *(column.split()[0] for column in STATE.split(","))]

# When the watermark has come here, no flight of the year is still to come. Milliseconds since 1970.
YEAR_IS_OVER = int(datetime(2014, 1, 2, tzinfo=timezone.utc).timestamp() * 1000)


@dataclass(frozen=True)
class LogBook:
    """What is kept of one aircraft: sums and extremes, whatever the order of its flights.

    The fields are those of `STATE`. The delay is in minutes, and nothing if no flight has departed;
    scheduled departures are in seconds since 1970.
    """

    flights: int
    cancelled: int
    miles: int
    longest_delay: int | None
    first_departure: int
    last_departure: int

    @classmethod
    def of(cls, legs: pd.DataFrame) -> "LogBook":
        """Sum up at least one row of `legs`."""
        delay = legs["dep_delay"].max()
        return cls(
            flights=len(legs),
            cancelled=int(legs["cancelled"].sum()),
            miles=int(legs["miles"].sum()),
            longest_delay=None if pd.isna(delay) else int(delay),
            first_departure=int(legs["event_time"].min().timestamp()),
            last_departure=int(legs["event_time"].max().timestamp()),
        )

    def __add__(self, other: "LogBook") -> "LogBook":
        """Take two logs of one aircraft together."""
        delays = [log.longest_delay for log in (self, other) if log.longest_delay is not None]
        return LogBook(
            flights=self.flights + other.flights,
            cancelled=self.cancelled + other.cancelled,
            miles=self.miles + other.miles,
            longest_delay=max(delays, default=None),
            first_departure=min(self.first_departure, other.first_departure),
            last_departure=max(self.last_departure, other.last_departure),
        )


def legs(flights: DataFrame) -> DataFrame:
    """What a flight adds to the record; flights without a tail number are one aircraft's."""
    departed = F.col("dep_time").isNotNull()
    return flights.select(
        F.coalesce("tailnum", F.lit("none")).alias("aircraft"),
        F.when(departed, 0).otherwise(1).cast("bigint").alias("cancelled"),
        F.when(departed, F.col("distance")).otherwise(0).alias("miles"),
        "dep_delay",
        "event_time",
    )


def keep(
    key: tuple[str, ...], batches: Iterator[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    """Add new flights to an aircraft's record and emit it; the last time when the year is over."""
    logs = [LogBook(*state.get)] if state.exists else []
    if state.hasTimedOut:
        state.remove()
    else:
        logs.extend(map(LogBook.of, batches))
    record = astuple(reduce(add, logs))
    if not state.hasTimedOut:
        state.update(record)
        state.setTimeoutTimestamp(YEAR_IS_OVER)
    yield pd.DataFrame([(*key, state.hasTimedOut, *record)], columns=COLUMNS)


def running_records(flights: DataFrame) -> DataFrame:
    """The record of each aircraft that flew in a batch; `complete` when no more will follow."""
    running = (
        legs(flights)
        .groupBy("aircraft")
        .applyInPandasWithState(keep, OUTPUT, STATE, "update", GroupStateTimeout.EventTimeTimeout)
    )
    return running.withColumns(
        {name: F.timestamp_seconds(name) for name in ("first_departure", "last_departure")}
    )


def records(flights: DataFrame) -> DataFrame:
    """The same records asked for in batch, where Spark has no state: a plain aggregation."""
    return (
        legs(flights)
        .groupBy("aircraft")
        .agg(
            F.count("*").alias("flights"),
            F.sum("cancelled").alias("cancelled"),
            F.sum("miles").alias("miles"),
            F.max("dep_delay").alias("longest_delay"),
            F.min("event_time").alias("first_departure"),
            F.max("event_time").alias("last_departure"),
        )
    )
