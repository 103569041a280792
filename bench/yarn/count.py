"""Count keys by Spark Structured Streaming, and print each batch: count.py KEYS ROWS BATCHES.

A line is the batch, its milliseconds, and the rows and bytes of the state. Ends after BATCHES.
"""

import sys
import tempfile
import time

from pyspark.sql import SparkSession

keys, rows, batches = map(int, sys.argv[1:])
spark = SparkSession.builder.getOrCreate()
source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", rows)
stream = source.option("numPartitions", 2).load()
counts = stream.groupBy((stream.value * 104_729 % keys).alias("key")).count()
writing = counts.writeStream.format("noop").outputMode("update")
with tempfile.TemporaryDirectory(prefix="keyfold-yarn-") as folder:
    query = writing.option("checkpointLocation", folder).start()
    said = -1
    while query.isActive and said < batches - 1:
        time.sleep(0.2)
        progress = query.lastProgress
        if progress and progress["batchId"] > said:
            said = progress["batchId"]
            [state] = progress["stateOperators"]
            took = progress["durationMs"]["triggerExecution"]
            line = (said, took, state["numRowsTotal"], state["memoryUsedBytes"])
            sys.stdout.write("batch " + " ".join(map(str, line)) + "\n")
            sys.stdout.flush()
    query.stop()
