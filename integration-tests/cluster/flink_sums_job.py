"""Running sums per key, each written by the partition that Flink would have the key in.

Usage: flink_sums_job.py INPUT CHECKPOINT OUTPUT MAX_PARALLELISM PARALLELISM

A row of OUTPUT has the partition that wrote it (operator), the key, its key group, and its sum.
"""

import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from keyfold import flink

source, checkpoint, output, *numbers = sys.argv[1:]
max_parallelism, parallelism = map(int, numbers)
spark = SparkSession.builder.getOrCreate()


def write_placed(batch: DataFrame, _batch_id: int) -> None:
    placed = batch.repartitionById(
        parallelism, flink.operator_index("key", max_parallelism, parallelism)
    )
    key_group = flink.key_group("key", max_parallelism)
    rows = placed.select(
        f.spark_partition_id().alias("operator"), "key", key_group.alias("key_group"), "sum"
    )
    rows.write.mode("overwrite").json(output)


query = (
    spark.readStream.schema("key string, value double")
    .json(source)
    .groupBy("key")
    .agg(f.sum("value").alias("sum"))
    .writeStream.outputMode("update")
    .foreachBatch(write_placed)
    .option("checkpointLocation", checkpoint)
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
