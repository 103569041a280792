"""The streaming queries: what each one asks, and where its answer goes."""

from collections.abc import Iterable
from pathlib import Path

import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from demo.absences import alerts
from demo.aircraft import running_records
from demo.limits import SCHEMA as LIMITS_SCHEMA
from demo.limits import above_limits
from demo.place import Place
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
from demo.replay import END_MARK
from demo.session import HDFS
from demo.weather import SCHEMA as WEATHER_SCHEMA
from demo.weather import observations, with_weather
from demo.workspace import Workspace
from keyfold.settings import FORMAT_KEY, FORMAT_VERSION, PROVIDER_CLASS, PROVIDER_KEY

# Day files a batch. For the last three, fewer and larger batches: Python is called once for each
# aircraft in a batch, and the join commits sixteen stores besides the four of the deduplication.
# The file of the first closing row, number 366, ends the sixth batch of absences; that of the
# second is a batch of its own.
FILES_PER_BATCH = {
    "flights": 20,
    "delays": 20,
    "chains": 20,
    "totals": 20,
    "aircraft": 45,
    "weather": 40,
    "absences": 61,
    "limits": 61,
}
QUERIES = tuple(FILES_PER_BATCH)

# Ask for transformWithState: HDFSBacked cannot keep its state. That of absences has rows, and Spark
# 4.0 has it with pandas only.
WITH_PROCESSOR = {"absences", "limits"}
WITH_ROWS = "absences"
# Without keys all its rows are in one partition, whose state Spark 4.0 keeps under format 1 only.
WITHOUT_KEYS = "totals"
IS_SPARK_40 = pyspark.__version__.startswith("4.0.")

# Queries whose answer changes from batch to batch, and how. The others append to theirs.
OUTPUT_MODES = {"totals": "complete", "aircraft": "update"}

# After every batch of a query in processing time Spark 4.2 asks for another, with or without input:
# one that reads what there is and then ends would have no end.
ONLY_WITH_INPUT = {"absences"}
EMPTY_BATCHES = "spark.sql.streaming.noDataMicroBatches.enabled"

# All write through foreachBatch: Spark 4.2 cannot restart a query with checkpoint format 2 whose
# file sink has seen a batch that the commit log has not (it skips the batch and misses its state).


def queries_of(provider: str) -> tuple[str, ...]:
    """Name the queries that a state store can run."""
    left_out = WITH_PROCESSOR if provider == HDFS else {WITH_ROWS} if IS_SPARK_40 else set()
    return tuple(query for query in QUERIES if query not in left_out)


def start_all(
    spark: SparkSession, workspace: Workspace, place: Place, queries: Iterable[str]
) -> list[StreamingQuery]:
    """Start some queries; each reads all there is, batch by batch, and then ends."""
    started = []
    for query in queries:
        spark.conf.set(EMPTY_BATCHES, query not in ONLY_WITH_INPUT)
        if IS_SPARK_40 and spark.conf.get(PROVIDER_KEY) == PROVIDER_CLASS:
            spark.conf.set(FORMAT_KEY, "1" if query == WITHOUT_KEYS else FORMAT_VERSION)
        started.append(start(query, question(query, spark, workspace), workspace, place))
    return started


def question(query: str, spark: SparkSession, workspace: Workspace) -> DataFrame:  # noqa: PLR0911 - one for each query
    """Ask a question of the day files as a stream."""
    files = FILES_PER_BATCH[query]
    deliveries = with_event_time(day_files(spark, SCHEMA, files, workspace.flights))
    flights = deliveries.withWatermark("event_time", WATERMARK)
    once = flights.dropDuplicatesWithinWatermark(FLIGHT)
    match query:
        case "flights":
            return each_once(flights)
        case "delays":
            return delays(once)
        case "chains":
            return chains(once)
        case "totals":
            return totals(deliveries.where(f"carrier <> '{END_MARK}'"))
        case "aircraft":
            return running_records(once)
        case "weather":
            weather = observations(day_files(spark, WEATHER_SCHEMA, files, workspace.weather))
            return with_weather(once, weather.withWatermark("observed", WATERMARK))
        case "absences":
            return alerts(flights)
        case "limits":
            limits = day_files(spark, LIMITS_SCHEMA, files, workspace.limits)
            return above_limits(once, limits)
        case _:
            raise ValueError(f"Invalid query: {query}")


def day_files(spark: SparkSession, schema: str, files: int, folder: Path) -> DataFrame:
    """Stream CSV files in the order of their modification times, `files` a batch."""
    return (
        spark.readStream.schema(schema)
        .options(**CSV_OPTIONS)
        .option("maxFilesPerTrigger", files)
        .csv(str(folder))
    )


def start(query: str, question: DataFrame, workspace: Workspace, place: Place) -> StreamingQuery:
    """Start one query."""
    return (
        folder_a_batch(query, question, workspace)
        .queryName(query)
        .option("checkpointLocation", place.checkpoint(query))
        .trigger(availableNow=True)
        .start()
    )


def folder_a_batch(query: str, question: DataFrame, workspace: Workspace) -> DataStreamWriter:
    """Write each batch to a folder; one that is run again overwrites what it wrote before."""

    def write(answer: DataFrame, batch: int) -> None:
        answer.write.mode("overwrite").parquet(str(workspace.result(query) / f"batch={batch}"))

    mode = OUTPUT_MODES.get(query, "append")
    return question.writeStream.outputMode(mode).foreachBatch(write)
