"""A streaming aggregation, submitted as users do: nothing in it knows of Keyfold.

Usage: aggregation_job.py INPUT CHECKPOINT OUTPUT [MARKER]

With MARKER, a path that does not exist yet, the executor that first sees a count that takes two
files is killed: in the stage that holds the state, after its updates and before its commit.
"""

import os
import signal
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

# A file brings each key 12 or 13 times.
FATAL_COUNT = 20

source, checkpoint, output, *marker = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()


def totals(rows: DataFrame) -> DataFrame:
    """Count and sum per key; asked of the stream and, by the test, of the whole input."""
    return rows.groupBy("key").agg(f.count("*").alias("rows"), f.sum("value").alias("total"))


@f.udf("long")
def killing_once(rows: int) -> int:
    """Its argument; at the first count that is fatal the executor does not live to see it."""
    if rows > FATAL_COUNT and marker:
        try:
            Path(marker[0]).touch(exist_ok=False)
        except FileExistsError:
            return rows
        # A worker is forked by a daemon, which the executor's JVM has started.
        daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
        os.kill(int(daemon.rpartition(")")[2].split()[1]), signal.SIGKILL)
    return rows


def replace_output(batch: DataFrame, _batch_id: int) -> None:
    batch.coalesce(1).write.mode("overwrite").json(output)


stream = spark.readStream.schema("key long, value long").option("maxFilesPerTrigger", 1)
counted = totals(stream.json(source))
if marker:
    counted = counted.withColumn("rows", killing_once("rows"))
query = (
    counted.writeStream.outputMode("complete")
    .foreachBatch(replace_output)
    .option("checkpointLocation", checkpoint)
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
