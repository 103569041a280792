"""Counts per key, by one of two drivers that are given the same checkpoint.

Usage: concurrent_drivers_job.py INPUT CHECKPOINT OUTPUT MEETING

In batch 1, once its state has been written and before it is committed, the driver leaves a file
MEETING and waits until it is gone.
"""

import sys
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

MEETING_BATCH = 1
TIMEOUT_S = 240

source, checkpoint, output, meeting = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()


def meet(arrived: Path) -> None:
    """Says that it is here, and returns when it may go on."""
    arrived.touch()
    deadline = time.monotonic() + TIMEOUT_S
    while arrived.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{arrived} is still there after {TIMEOUT_S} s")
        time.sleep(0.005)


def replace_output(batch: DataFrame, number: int) -> None:
    batch.coalesce(1).write.mode("overwrite").json(output)
    if number == MEETING_BATCH:
        meet(Path(meeting))


counts = (
    spark.readStream.schema("key long, value long")
    .option("maxFilesPerTrigger", 1)
    .json(source)
    .groupBy("key")
    .agg(f.count("*").alias("rows"), f.sum("value").alias("total"))
)
query = (
    counts.writeStream.outputMode("complete")
    .foreachBatch(replace_output)
    .option("checkpointLocation", checkpoint)
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
