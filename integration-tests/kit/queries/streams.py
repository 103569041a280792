"""The input of a query as streams."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from kit.queries.rows import DELAY, LINK_SCHEMA, ROW_SCHEMA, START


@dataclass(frozen=True)
class Streams:
    """The input as streams; `timed` is `rows` with a watermark, and `links` has one."""

    rows: DataFrame
    timed: DataFrame
    links: DataFrame


def streams(session: SparkSession, folder: Path) -> Streams:
    """Those of the files below `folder`, a file a batch."""

    def read(name: str, schema: str) -> DataFrame:
        stream = session.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        return stream.json(str(folder / name))

    return _streams(read)


def topics(session: SparkSession, options: Mapping[str, str], prefix: str) -> Streams:
    """Those of the topics `<prefix>rows` and `<prefix>links`, which are there from their start.

    Args:
        session: Spark's.
        options: of Spark's source of Kafka.
        prefix: of the topics' names.
    """

    def read(name: str, schema: str) -> DataFrame:
        stream = session.readStream.format("kafka").options(**options)
        records = stream.option("subscribe", prefix + name).load()
        parsed = f.from_json(f.col("value").cast("string"), schema)
        return records.select(parsed.alias("row")).select("row.*")

    return _streams(read)


def _streams(read: Callable[[str, str], DataFrame]) -> Streams:
    delay = f"{DELAY} minutes"
    rows, links = read("rows", ROW_SCHEMA), read("links", LINK_SCHEMA)
    return Streams(rows, rows.withWatermark("at", delay), links.withWatermark("linked", delay))


def minute(time: Column | str) -> Column:
    """A time as the input counts it."""
    return (f.unix_seconds(time) / 60).cast("long") - START
