"""Queries that lives are made of, each with its model."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from crash.inputs import ROWS, STREAMS
from crash.models import (
    Aggregation,
    Deduplication,
    DeduplicationWithin,
    InnerJoin,
    LeftJoin,
    Model,
    Sessions,
    Windows,
)
from crash.processor import Everything
from crash.processor_models import EventCounts, Forgetful, Processed
from kit.queries.builtin import columns, sessions, windowed
from kit.queries.forgetful import Forgetful as ForgetfulProcessor
from kit.queries.joins import FORMATS, VERSION, both_sides
from kit.queries.processor import NO_EMPTY_BATCHES, processed
from kit.queries.streams import Streams
from kit.queries.totals import Totals


@dataclass(frozen=True)
class Kind:
    """A query, and what it must say and keep, batch by batch."""

    name: str
    question: Callable[[Streams], DataFrame]
    model: Callable[[], Model]
    mode: str = "append"
    settings: Mapping[str, str] = field(default_factory=dict)
    rows_per_file: int = 120
    # The first line of Spark that this harness runs it on.
    since: str = "4.1"
    # Of these streams it has a watermark.
    watermarks: Sequence[str] = ()
    # Whether the query changes, and is asked by `Totals`.
    changes: bool = False
    # Whether Spark's own `statestore` source reads its state rightly.
    is_read_by_spark: bool = True

    @property
    def has_column_families(self) -> bool:
        """Whether its state has, which HDFSBacked has not."""
        return "transformWithState" in self.name or "state format" in self.name


def event_counts(streams: Streams) -> DataFrame:
    session = streams.timed.sparkSession
    jvm = session._jvm.io.keyfold.spark.CrashQueries
    return DataFrame(jvm.eventCounts(streams.timed.select("key", "at")._jdf), session)


def processing() -> Iterator[Kind]:
    for pandas in (False, True):
        form = "in pandas" if pandas else "in rows"
        yield Kind(
            f"transformWithState {form}",
            lambda s, pandas=pandas: processed(
                s.timed, Everything(pandas=pandas), "update", "EventTime"
            ),
            Processed,
            mode="update",
            watermarks=[ROWS],
            rows_per_file=60,
        )
        yield Kind(
            f"transformWithState {form}, time to live",
            lambda s, pandas=pandas: processed(
                s.rows, ForgetfulProcessor(pandas=pandas), "update", "ProcessingTime"
            ),
            Forgetful,
            mode="update",
            settings=NO_EMPTY_BATCHES,
            rows_per_file=30,
        )


def joining() -> Iterator[Kind]:
    for name, settings in FORMATS.items():
        for how, model in (("inner", InnerJoin), ("left_outer", LeftJoin)):
            yield Kind(
                f"{how} join{name}",
                both_sides(how),
                model,
                settings=settings,
                watermarks=STREAMS,
                since="4.2" if settings.get(VERSION) == "4" else "4.1",
                # Of a side it shows an event time in the key that is not there: other memory.
                is_read_by_spark=settings.get(VERSION) != "4",
            )


KINDS = (
    Kind(
        "aggregation", lambda s: Totals().question(s.rows), Aggregation, mode="update", changes=True
    ),
    Kind("windows", lambda s: windowed(s.timed), Windows, watermarks=[ROWS]),
    Kind("dropDuplicates", lambda s: columns(s.rows.dropDuplicates(["id"])), Deduplication),
    Kind(
        "dropDuplicatesWithinWatermark",
        lambda s: columns(s.timed.dropDuplicatesWithinWatermark(["id"])),
        DeduplicationWithin,
        watermarks=[ROWS],
    ),
    Kind("session windows", sessions, Sessions, watermarks=[ROWS]),
    *joining(),
    *processing(),
    *processing(),
    # Its classes are compiled for the line that all tests run on.
    Kind(
        "transformWithState in Scala",
        event_counts,
        EventCounts,
        mode="update",
        watermarks=[ROWS],
        since="4.2",
    ),
)
