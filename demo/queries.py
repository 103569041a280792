"""The streaming queries: what each one asks, and where its answer goes."""

from collections.abc import Iterable

import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from demo.absences import alerts
from demo.aircraft import running_records
from demo.limits import SCHEMA as LIMITS_SCHEMA
from demo.limits import above_limits
from demo.place import Place
from demo.questions import (
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
from demo.sink import APPEND, COMPLETE, UPDATE, Sink
from demo.source import Source
from demo.weather import SCHEMA as WEATHER_SCHEMA
from demo.weather import observations, with_weather
from demo.workspace import FLIGHTS, LIMITS, WEATHER
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
OUTPUT_MODES = dict.fromkeys(FILES_PER_BATCH, APPEND) | {"totals": COMPLETE, "aircraft": UPDATE}

# After every batch of a query in processing time Spark 4.2 asks for another, with or without input:
# one that reads what there is and then ends would have no end.
ONLY_WITH_INPUT = {"absences"}
EMPTY_BATCHES = "spark.sql.streaming.noDataMicroBatches.enabled"


def queries_of(provider: str) -> tuple[str, ...]:
    """Name the queries that a state store can run."""
    left_out = WITH_PROCESSOR if provider == HDFS else {WITH_ROWS} if IS_SPARK_40 else set()
    return tuple(query for query in QUERIES if query not in left_out)


def start_all(
    spark: SparkSession, source: Source, sink: Sink, place: Place, queries: Iterable[str]
) -> list[StreamingQuery]:
    """Start some queries; each reads all there is, batch by batch, and then ends."""
    started = []
    for query in queries:
        spark.conf.set(EMPTY_BATCHES, query not in ONLY_WITH_INPUT)
        if IS_SPARK_40 and spark.conf.get(PROVIDER_KEY) == PROVIDER_CLASS:
            spark.conf.set(FORMAT_KEY, "1" if query == WITHOUT_KEYS else FORMAT_VERSION)
        started.append(
            sink.write(query, question(query, spark, source), OUTPUT_MODES[query])
            .queryName(query)
            .option("checkpointLocation", place.checkpoint(query))
            .trigger(availableNow=True)
            .start()
        )
    return started


def question(query: str, spark: SparkSession, source: Source) -> DataFrame:  # noqa: PLR0911 - one for each query
    """Ask a question of the source as a stream."""
    files = FILES_PER_BATCH[query]
    deliveries = with_event_time(source.stream(spark, FLIGHTS, SCHEMA, files))
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
            rows = source.stream(spark, WEATHER, WEATHER_SCHEMA, files)
            weather = observations(rows).withWatermark("observed", WATERMARK)
            return with_weather(once, weather)
        case "absences":
            return alerts(flights)
        case "limits":
            limits = source.stream(spark, LIMITS, LIMITS_SCHEMA, files)
            return above_limits(once, limits)
        case _:
            raise ValueError(f"Invalid query: {query}")
