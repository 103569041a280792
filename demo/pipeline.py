# ruff: noqa: N802 - Spark names the methods of its listener
"""The streaming driver, a process of its own so that it can be killed: all queries at once."""

import argparse
import json
from pathlib import Path

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from demo.events import send
from demo.queries import start_all
from demo.session import PROVIDERS, streaming_session
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
    """Run all queries until they have read every file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--provider", choices=PROVIDERS, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    workspace = Workspace(options.out)
    spark = streaming_session(options.provider, workspace.local)
    send("note", text="Spark has started; the first batches are the slowest")
    spark.streams.addListener(Reporter())
    for query in start_all(spark, workspace):
        query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main()
