# ruff: noqa: N802 - Spark names the methods of its listener
"""The streaming driver, a process of its own so that it can be killed: four stateful queries."""

import argparse
import json
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from demo.events import send
from demo.questions import (
    CSV_OPTIONS,
    FLIGHT,
    SCHEMA,
    WATERMARK,
    chains,
    delays,
    each_once,
    totals,
    with_event_time,
)
from demo.replay import END_CARRIER
from demo.session import PROVIDERS, streaming_session
from demo.workspace import Workspace

FILES_PER_BATCH = 15
QUERIES = ("flights", "delays", "chains", "totals")


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


def deliveries(spark: SparkSession, workspace: Workspace) -> DataFrame:
    """Stream the day files in the order of their modification times."""
    return with_event_time(
        spark.readStream.schema(SCHEMA)
        .options(**CSV_OPTIONS)
        .option("maxFilesPerTrigger", FILES_PER_BATCH)
        .csv(str(workspace.input))
    )


def start(writer: DataStreamWriter, query: str, workspace: Workspace) -> StreamingQuery:
    """Start a query that reads all there is, batch by batch, and then ends."""
    return (
        writer.queryName(query)
        .option("checkpointLocation", str(workspace.checkpoint(query)))
        .trigger(availableNow=True)
        .start()
    )


def flights_query(source: DataFrame, workspace: Workspace) -> StreamingQuery:
    """Each flight once."""
    once = each_once(source.withWatermark("event_time", WATERMARK))
    writer = once.writeStream.format("parquet").option("path", str(workspace.result("flights")))
    return start(writer, "flights", workspace)


def delays_query(source: DataFrame, workspace: Workspace) -> StreamingQuery:
    """Delays by the hour of flights taken once: two stateful operators, one behind the other."""
    watermarked = source.withWatermark("event_time", WATERMARK)
    hourly = delays(watermarked.dropDuplicatesWithinWatermark(FLIGHT))
    writer = hourly.writeStream.format("parquet").option("path", str(workspace.result("delays")))
    return start(writer, "delays", workspace)


def chains_query(source: DataFrame, workspace: Workspace) -> StreamingQuery:
    """Chains of flights per aircraft, as session windows of flights taken once."""
    watermarked = source.withWatermark("event_time", WATERMARK)
    chained = chains(watermarked.dropDuplicatesWithinWatermark(FLIGHT))
    writer = chained.writeStream.format("parquet").option("path", str(workspace.result("chains")))
    return start(writer, "chains", workspace)


def totals_query(source: DataFrame, workspace: Workspace) -> StreamingQuery:
    """One running total; a batch that is run again overwrites what it wrote before the kill."""

    def write(running: DataFrame, batch: int) -> None:
        running.write.mode("overwrite").parquet(str(workspace.result("totals") / f"batch={batch}"))

    running = totals(source.where(f"carrier <> '{END_CARRIER}'"))
    return start(
        running.writeStream.outputMode("complete").foreachBatch(write), "totals", workspace
    )


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
    source = deliveries(spark, workspace)
    begins = (flights_query, delays_query, chains_query, totals_query)
    queries = [begin(source, workspace) for begin in begins]
    for query in queries:
        query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main()
