"""Queries over one stream, of operators that take no code."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from kit.queries.rows import START
from kit.queries.streams import Streams, minute

# With the input of `operators`, over the border of two files, and so over the restart.
WINDOW = 45
# There, three rows of one key are 3 minutes apart, the next three of it an hour.
GAP = 20


def counted(stream: DataFrame, *keys: str) -> DataFrame:
    return stream.groupBy(*keys).agg(f.count("*"), f.sum("value"), f.max("id"))


def windowed(stream: DataFrame) -> DataFrame:
    windows = f.window("at", f"{WINDOW} minutes")
    counts = stream.groupBy("key", windows).agg(f.count("*"), f.sum("value"), f.max("id"))
    return counts.withColumn("window", minute("window.start"))


def window_of(at: int) -> int:
    return (START + at) // WINDOW * WINDOW - START


def columns(stream: DataFrame) -> DataFrame:
    return stream.select("id", "key", "value", minute("at"))


def sessions(streams: Streams) -> DataFrame:
    grouped = streams.timed.groupBy("key", f.session_window("at", f"{GAP} minutes"))
    return grouped.agg(f.count("*"), f.sum("value")).select(
        "key",
        minute("session_window.start"),
        minute("session_window.end"),
        "count(1)",
        "sum(value)",
    )
