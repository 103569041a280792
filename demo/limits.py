"""Flights that leave later than their airline's latest of the day before.

The limits change every day: a second stream brings them, and each subtask of the operator keeps
all it has been told. A limit comes in a file of the same place as the flights of its day, so it is
there when they are asked about.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark user knows

import keyfold
from demo.day_files import write_file
from demo.questions import FLIGHT

SCHEMA = "limit_day STRING, airline STRING, minutes BIGINT"
ANSWER = ", ".join(f"{it} {'STRING' if it in {'carrier', 'origin'} else 'BIGINT'}" for it in FLIGHT)
ANSWER += ", dep_delay BIGINT, minutes BIGINT"
SUBTASKS = 2


def write_limits(folder: Path, header: str, days: list[tuple[str, list[str]]]) -> int:
    """Write each day's limits, from the flights of the day before; return their number."""
    folder.mkdir(parents=True)
    names = header.strip().split(",")
    latest: dict[str, int] = {}
    written = 0
    for index, (day, rows) in enumerate(days):
        lines = [f"{day},{airline},{minutes}\n" for airline, minutes in sorted(latest.items())]
        write_file(folder / f"limits-{day}.csv", ["limit_day,airline,minutes\n", *lines], index)
        written += len(lines)
        latest = {}
        for flight in csv.DictReader(rows, names):
            if flight["dep_delay"] != "NA":
                delay = int(flight["dep_delay"])
                latest[flight["carrier"]] = max(delay, latest.get(flight["carrier"], delay))
    return written


class Limits(keyfold.OperatorFunction):
    """Yields the flights above the newest limit of their airline that their day has."""

    def open(self, ctx: keyfold.OperatorContext) -> None:
        """Take the limits, which every subtask has."""
        self.limits = ctx.broadcast_state("limits", "airline STRING, day STRING", "minutes BIGINT")

    def process_broadcast(self, batches: Iterator[pa.RecordBatch]) -> None:
        """Learn limits."""
        for batch in batches:
            for it in batch.to_pylist():
                self.limits.put((it["airline"], it["limit_day"]), (it["minutes"],))

    def process(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        """Compare flights with them."""
        newest: dict[tuple[str, str], int | None] = {}
        known = sorted((key, minutes) for key, (minutes,) in self.limits.items())
        for batch in batches:
            late = []
            for flight in batch.to_pylist():
                place = (flight["carrier"], flight.pop("flight_day"))
                if place not in newest:
                    mine = [it for key, it in known if key[0] == place[0] and key[1] <= place[1]]
                    newest[place] = mine[-1] if mine else None
                minutes, delay = newest[place], flight["dep_delay"]
                if minutes is not None and delay is not None and delay > minutes:
                    late.append({**flight, "minutes": minutes})
            if late:
                yield pa.Table.from_pylist(late)


def above_limits(flights: DataFrame, limits: DataFrame) -> DataFrame:
    """The late flights as a stream."""
    return keyfold.with_operator_state(
        _dated(flights), Limits(), ANSWER, parallelism=SUBTASKS, broadcast=limits
    )


def above_limits_in_batch(flights: DataFrame, limits: DataFrame) -> DataFrame:
    """The same asked for in batch: limits and flights in one order of days, limits first."""
    told = limits.withColumnsRenamed({"airline": "carrier", "limit_day": "flight_day"})
    told = told.withColumn("is_flight", F.lit(0))
    both = _dated(flights).withColumn("is_flight", F.lit(1))
    in_order = Window.partitionBy("carrier").orderBy("flight_day", "is_flight")
    newest = F.last("minutes", ignorenulls=True).over(in_order)
    return (
        both.unionByName(told, allowMissingColumns=True)
        .withColumn("minutes", newest)
        .where((F.col("is_flight") == 1) & (F.col("dep_delay") > F.col("minutes")))
        .select(*FLIGHT, "dep_delay", "minutes")
    )


def _dated(flights: DataFrame) -> DataFrame:
    day = F.format_string("%04d-%02d-%02d", "year", "month", "day")
    return flights.select(*FLIGHT, "dep_delay", day.alias("flight_day"))
