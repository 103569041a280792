"""Rows taken once, then counted by minute and key: two stateful operators, one behind the other.

Usage: windows_job.py INPUT CHECKPOINT OUTPUT [CHECKPOINT OUTPUT]...

A batch writes to OUTPUT/<batch>, and overwrites what it wrote when it ran before. With several
checkpoints there are as many queries, one after the other. It says how often Keyfold and its client
of the file system have tried again.
"""

import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

KEYS = 7

source, *queries = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()


def run(checkpoint: str, output: str) -> int:
    """Runs a query until it has read all files; how often state's files were tried again."""

    def write(batch: DataFrame, number: int) -> None:
        batch.write.mode("overwrite").json(f"{output}/{number}")

    query = (
        counts.writeStream.foreachBatch(write)
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    operators = (it for batch in query.recentProgress for it in batch["stateOperators"])
    return sum(it["customMetrics"]["keyfoldFileRetries"] for it in operators)


minute = f.window("at", "1 minute")
counts = (
    spark.readStream.schema("id long, at timestamp")
    .option("maxFilesPerTrigger", 1)
    .json(source)
    .withWatermark("at", "2 minutes")
    .dropDuplicatesWithinWatermark(["id"])
    .groupBy(minute, (f.col("id") % KEYS).alias("key"))
    .agg(f.count("*").alias("rows"), f.sum("id").alias("total"))
    .select(
        (f.unix_seconds("window.start") / 60).cast("long").alias("minute"), "key", "rows", "total"
    )
)
retries = [run(*it) for it in zip(queries[::2], queries[1::2], strict=True)]
print(f"keyfoldFileRetries {sum(retries)}")  # noqa: T201 - for who runs it
