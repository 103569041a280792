"""The queries of the soak, and what each must have said in the end."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.state import GroupStateTimeout

from kit.queries.builtin import columns, counted, sessions, windowed
from kit.queries.forgetful import Forgetful
from kit.queries.joins import both_sides
from kit.queries.processor import processed
from kit.queries.streams import Streams, minute
from soak.bounded import KEPT_MINUTES, Bounded, ended
from soak.said import (
    Row,
    Said,
    each_id,
    is_all_ids,
    is_count_of_all,
    is_each_once,
    is_each_once_or_alone,
    is_many,
    latest,
    of_a_run,
    of_a_window,
    remembered,
    with_partner,
)
from soak.stream import DELAY, IDS, LINKED, RUN


@dataclass(frozen=True)
class Kind:
    """A query; `take` notes what it says, and `problem` compares that with the rows it has read."""

    name: str
    question: Callable[[Streams], DataFrame]
    take: Callable[[Said, Row], None]
    problem: Callable[[Said, int], str | None]
    mode: str = "append"


def repeated(streams: Streams) -> DataFrame:
    """Ids of a bounded set, again and again."""
    return streams.rows.selectExpr(f"id % {IDS} AS id").dropDuplicates(["id"])


def twins(streams: Streams) -> DataFrame:
    """Two rows of each id, 6 s apart."""
    rows = streams.rows.selectExpr("id div 2 AS id", "key", "value", "at")
    return columns(rows.withWatermark("at", DELAY).dropDuplicatesWithinWatermark(["id"]))


def grouped(streams: Streams) -> DataFrame:
    """Rows by key and run, whose groups end."""
    return streams.timed.selectExpr(f"concat(key, ' ', id div {RUN}) AS key", "at")


def ended_in_pandas(streams: Streams) -> DataFrame:
    rows = grouped(streams).select("key", "at", minute("at").alias("minute")).groupBy("key")
    return rows.applyInPandasWithState(
        ended, "key string, rows long", "rows long", "append", GroupStateTimeout.EventTimeTimeout
    )


def in_scala(name: str, *arguments: Any) -> Callable[[Streams], DataFrame]:
    def ask(streams: Streams) -> DataFrame:
        session = streams.rows.sparkSession
        rows = streams.timed.select("key", "at") if name == "latest" else grouped(streams)
        question = getattr(session._jvm.io.keyfold.spark.SoakQueries, name)
        return DataFrame(question(rows._jdf, *arguments), session)

    return ask


def bounded(*, pandas: bool) -> Callable[[Streams], DataFrame]:
    return lambda s: processed(s.timed, Bounded(pandas=pandas), "update", "EventTime")


def forgetful(streams: Streams) -> DataFrame:
    return processed(streams.rows, Forgetful(pandas=False), "update", "ProcessingTime")


KINDS = (
    # These start Python in the driver, for which there is time while nothing else runs.
    Kind(
        "transformWithState in rows", bounded(pandas=False), latest, is_count_of_all, mode="update"
    ),
    Kind(
        "transformWithState in pandas", bounded(pandas=True), latest, is_count_of_all, mode="update"
    ),
    Kind("transformWithState, time to live", forgetful, remembered, is_count_of_all, mode="update"),
    Kind("aggregation", lambda s: counted(s.rows, "key"), latest, is_count_of_all, "update"),
    Kind("windows", lambda s: windowed(s.timed), of_a_window, is_many),
    Kind("dropDuplicates", repeated, each_id, is_all_ids),
    Kind("dropDuplicatesWithinWatermark", twins, each_id, is_each_once(1)),
    Kind("session windows", sessions, of_a_run(3), is_many),
    Kind("inner join", both_sides("inner"), with_partner, is_each_once(LINKED)),
    Kind("left outer join", both_sides("left_outer"), with_partner, is_each_once_or_alone),
    Kind("transformWithState in Scala", in_scala("latest"), latest, is_count_of_all, mode="update"),
    Kind("flatMapGroupsWithState", in_scala("ended", KEPT_MINUTES), of_a_run(1), is_many),
    Kind("applyInPandasWithState", ended_in_pandas, of_a_run(1), is_many),
)
