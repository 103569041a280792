"""The input: rows that Spark's `rate` source numbers, in an event time that runs fast.

Row n is 6 s after row n - 1, and an hour more after each run of rows; what is open then ends.
"""

from collections.abc import Iterator

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from kit.queries.rows import START
from kit.queries.streams import Streams

ROWS_PER_SECOND = 60
KEYS = 20
# Rows between two pauses of an hour; as many of each key.
RUN = 2000
ROWS_PER_MINUTE = 10
PAUSE = 60
IDS = 1000
# A third of the rows has a link, 10 minutes after it.
LINKED = 3
DELAY = "10 minutes"


def streams(session: SparkSession) -> Streams:
    """Each query reads a source of its own, whose rows are the same."""

    def numbers() -> DataFrame:
        return session.readStream.format("rate").option("rowsPerSecond", ROWS_PER_SECOND).load()

    seconds = f"{START} * 60 + value * 6 + value div {RUN} * {PAUSE} * 60"
    at = f.timestamp_seconds(f.expr(seconds))
    key = f.concat(f.lit("k"), f.col("value") % KEYS)
    rows = numbers().select(key.alias("key"), f.col("value").alias("id"), "value", at.alias("at"))
    links = numbers().where(f"value % {LINKED} = 0")
    links = links.select(
        f.col("value").alias("ref"), (at + f.expr("INTERVAL 10 MINUTES")).alias("linked")
    )
    return Streams(rows, rows.withWatermark("at", DELAY), links.withWatermark("linked", DELAY))


def counts(rows: int) -> Iterator[tuple[str, int]]:
    """How many of the first rows each key has."""
    return ((f"k{key}", len(range(key, rows, KEYS))) for key in range(KEYS))


def rows_between(key: str, start: int, end: int) -> int:
    """How many rows of a key are in these minutes; one has rows of half of the keys."""
    period = RUN // ROWS_PER_MINUTE + PAUSE
    minutes = (it % period for it in range(max(start, 0), end))
    half = int(key[1:]) // ROWS_PER_MINUTE
    return sum(it < period - PAUSE and it % 2 == half for it in minutes)
