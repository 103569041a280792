"""Checkpoints to look into, made by Spark: the same query with each provider."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

import keyfold
from keyfold.settings import FORMAT_KEY, FORMAT_VERSION, PROVIDER_CLASS, PROVIDER_KEY

_STATE: Final = "org.apache.spark.sql.execution.streaming.state"
PROVIDERS: Final = {
    "HDFSBacked": f"{_STATE}.HDFSBackedStateStoreProvider",
    "RocksDB": f"{_STATE}.RocksDBStateStoreProvider",
    "Keyfold": PROVIDER_CLASS,
}


@dataclass(frozen=True)
class Count:
    """A count of keys that come once each, in random order, in batches of one size."""

    name: str
    rows: int
    batches: int
    partitions: int


LARGE: Final = Count("large", 5_000_000, 5, 4)
# Many small files: 10 keys a partition and batch.
WIDE: Final = Count("wide", 200_000, 100, 200)


def session(scratch: Path) -> SparkSession:
    """Start what all providers and all questions share: two cores, Arrow for pandas."""
    builder = SparkSession.builder.master("local[2]").appName("keyfold-bench")
    settings: dict[str, bool | float | int | str | None] = {
        "spark.driver.memory": "8g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(scratch / "local"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    made = keyfold.configure(builder.config(map=settings)).getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made


@dataclass(frozen=True)
class Kept:
    """A checkpoint, and a session that can read it."""

    checkpoint: Path
    spark: SparkSession


def run(shared: SparkSession, folder: Path, count: Count, provider: str) -> Kept:
    """Run the query with a provider, to its end."""
    spark = shared.newSession()
    source = folder / f"{count.name}-input"
    if not source.exists():
        # The factor has no divisor in common with the rows, so that each number comes once.
        numbers = spark.range(count.rows).selectExpr(f"id * 2654435761 % {count.rows} AS id")
        numbers.repartition(count.batches).write.parquet(str(source))
    checkpoint = folder / f"{count.name}-{provider.rpartition('.')[2]}"
    spark.conf.set(PROVIDER_KEY, provider)
    # HDFSBacked has only the first.
    spark.conf.set(FORMAT_KEY, FORMAT_VERSION if provider == PROVIDER_CLASS else "1")
    spark.conf.set("spark.sql.shuffle.partitions", count.partitions)
    stream = spark.readStream.schema("id BIGINT").option("maxFilesPerTrigger", 1)
    counts = stream.parquet(str(source)).groupBy("id").count()
    writing = counts.writeStream.format("noop").outputMode("update").trigger(availableNow=True)
    writing.option("checkpointLocation", str(checkpoint)).start().awaitTermination()
    return Kept(checkpoint, spark)
