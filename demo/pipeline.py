# ruff: noqa: N802 - Spark names the methods of its listener
"""The streaming driver, a process of its own so that it can be killed: all queries at once.

Between two stages the queries are at their ends, and each gets another number of partitions.
"""

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

import keyfold
from demo.again import run
from demo.ends import Ends
from demo.events import send
from demo.place import Place
from demo.queries import queries_of, start_all
from demo.record import RESCALING, STREAMING, Rescaled
from demo.requests import taken
from demo.session import KEYFOLD, PROVIDERS, streaming_session
from demo.workspace import Workspace


class Reporter(StreamingQueryListener):
    """Sends the progress of every batch of every query as an event."""

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        """Nothing to tell."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        """Send Spark's own progress record as it is."""
        send("progress", progress=json.loads(event.progress.json))

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        """Nothing to tell."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """Nothing to tell: the driver waits for each query and fails with it."""


def main() -> None:
    """Run all queries through the stages that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--provider", choices=PROVIDERS, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--ends", type=Ends.from_json, required=True)
    parser.add_argument("--place", type=Place.from_json, required=True)
    parser.add_argument("--stages", type=int, nargs="+", required=True, help="numbers from 0")
    options = parser.parse_args()
    workspace = Workspace(options.out)
    place: Place = options.place
    ends: Ends = options.ends
    source, sink = ends.source_in(workspace), ends.sink_in(workspace)
    queries = queries_of(options.provider)
    spark = streaming_session(options.provider, workspace.local, {**place.conf, **ends.conf})
    send("note", text="Spark has started; the first batches are the slowest")
    spark.streams.addListener(Reporter())
    # The first one goes on with the partitions it finds.
    partitions = source.stages[options.stages[0]].partitions
    for stage in (source.stages[it] for it in options.stages):
        if options.provider == KEYFOLD and stage.partitions != partitions:
            partitions = stage.partitions
            rescale(spark, place, queries, partitions)
            tell_requests(place, RESCALING)
        source.deliver(spark, stage)
        run(partial(start_all, spark, source, sink, place), queries)
        tell_requests(place, STREAMING)
    spark.stop()


def tell_requests(place: Place, activity: str) -> None:
    """Tell how many requests an activity has taken, where they are counted.

    The demo cannot ask in time itself: this process has gone on when it hears of an event.
    """
    if place.counter:
        send("requests", activity=activity, counts=taken(place.counter))


def rescale(spark: SparkSession, place: Place, queries: Iterable[str], partitions: int) -> None:
    """Give every query's state another number of partitions, and tell how long each took."""
    send(
        "note",
        text=f"All queries have ended; keyfold.rescale takes each to {partitions} partitions",
    )
    for query in queries:
        done = keyfold.rescale(place.checkpoint(query), partitions, dry_run=False, spark=spark)
        fact = Rescaled(query, done.before, done.after, done.duration_ms or 0)
        send("rescaled", rescaled=asdict(fact))


if __name__ == "__main__":
    main()
