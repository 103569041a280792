"""Three queries whose metrics are looked at; each batch of one reads one file.

Usage: metrics_job.py FOLDER

Reads from `FOLDER/<query>/in` until `FOLDER/stop` is there. `FOLDER/rescale` has the number of
partitions that the query `totals` is started with again.
"""

import sys
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.query import StreamingQuery

WINDOWS, TOTALS, PLACED = "orders operator_1 per-minute", "totals", "placed"
SCHEMAS = {WINDOWS: "id long, time timestamp", TOTALS: "key long", PLACED: "v long"}
OF_SPARK = "spark.sql.streaming."
SETTINGS = {
    # All of their files stay.
    WINDOWS: {"minBatchesToRetain": "100"},
    TOTALS: {"minBatchesToRetain": "100"},
    # By fewer columns than the keys have.
    PLACED: {"minBatchesToRetain": "2", "statefulOperator.useStrictDistribution": "false"},
}


def windows(orders: DataFrame) -> DataFrame:
    once = orders.withWatermark("time", "10 seconds").dropDuplicates(["id", "time"])
    return once.groupBy(f.window("time", "10 seconds")).count()


def totals(keys: DataFrame) -> DataFrame:
    return keys.groupBy("key").count()


def placed(numbers: DataFrame) -> DataFrame:
    apart = numbers.withColumn("more", f.col("v") % 7).repartition(f.col("v"))
    return apart.groupBy("v", "more").count()


QUERIES = {WINDOWS: windows, TOTALS: totals, PLACED: placed}


def start(spark: SparkSession, folder: Path, name: str) -> StreamingQuery:
    for key, value in SETTINGS[name].items():
        spark.conf.set(OF_SPARK + key, value)
    stream = spark.readStream.schema(SCHEMAS[name]).option("maxFilesPerTrigger", 1)
    rows = QUERIES[name](stream.json(str(folder / name / "in")))
    writer = rows.writeStream.queryName(name).format("noop")
    writer = writer.outputMode("append" if name == WINDOWS else "update")
    checkpoint = str(folder / name / "checkpoint")
    writer = writer.option("checkpointLocation", checkpoint).trigger(processingTime="1 second")
    started = writer.start()
    for key in SETTINGS[name]:
        spark.conf.unset(OF_SPARK + key)
    return started


def main(folder: Path) -> None:
    """The job."""
    spark = SparkSession.builder.getOrCreate()
    running = {name: start(spark, folder, name) for name in QUERIES}
    rescale = folder / "rescale"
    while not (folder / "stop").exists():
        if rescale.exists():
            spark.conf.set(f"{OF_SPARK}stateStore.keyfold.partitions", rescale.read_text())
            rescale.unlink()
            running[TOTALS].stop()
            running[TOTALS] = start(spark, folder, TOTALS)
        for query in running.values():
            if (error := query.exception()) is not None:
                raise error
        time.sleep(0.1)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
