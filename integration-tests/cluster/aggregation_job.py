"""A streaming aggregation, submitted as users do: nothing in it knows of Keyfold.

Usage: aggregation_job.py INPUT CHECKPOINT OUTPUT
"""

import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

source, checkpoint, output = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()


def totals(rows: DataFrame) -> DataFrame:
    """Count and sum per key; asked of the stream and, by the test, of the whole input."""
    return rows.groupBy("key").agg(f.count("*").alias("rows"), f.sum("value").alias("total"))


def replace_output(batch: DataFrame, _batch_id: int) -> None:
    batch.coalesce(1).write.mode("overwrite").json(output)


stream = spark.readStream.schema("key long, value long").option("maxFilesPerTrigger", 1)
query = (
    totals(stream.json(source))
    .writeStream.outputMode("complete")
    .foreachBatch(replace_output)
    .option("checkpointLocation", checkpoint)
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
