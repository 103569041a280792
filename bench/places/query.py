"""Run a count in a process of its own; says before which batches it is, and what they took.

Usage: python -m bench.places.query JOB, which is a `Job` in JSON.
"""

import json
import sys
import time
from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

SOURCE_PARTITIONS = 2
# No divisor in common with any number of keys: all come once before any comes again.
FACTOR = 104_729
POLL_S = 0.01


@dataclass(frozen=True)
class Job:
    """A count of `keys` keys by batches of `rows` rows; without state if `keys` is 0.

    The batches `first` to `last` - 1 are measured. As `first` and `last` begin it says so in a
    line, and waits for one.
    """

    settings: dict[str, str]
    checkpoint: str
    rows: int
    keys: int
    first: int
    last: int


def newest(query: StreamingQuery) -> int:
    """Number of the last batch that has ended; the whole progress would take long to ask for."""
    progress = query._jsq.lastProgress()  # noqa: SLF001
    return int(progress.batchId()) if progress else -1


def say(line: str) -> None:
    """Print a line for the process that waits for it."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run(job: Job) -> None:
    """Print what Spark reports of the measured batches: milliseconds by phase, and rows of state.

    And the state store's metrics of the first batch, in which state is loaded.
    """
    builder = SparkSession.builder.config(map=dict(job.settings))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", job.rows)
    rows = source.option("numPartitions", SOURCE_PARTITIONS).load()
    if job.keys:
        rows = rows.selectExpr(f"value * {FACTOR} % {job.keys} AS key").groupBy("key").count()

    writing = rows.writeStream.format("noop").outputMode("update" if job.keys else "append")
    query = writing.option("checkpointLocation", job.checkpoint).start()
    for number in (job.first, job.last):
        while query.isActive and newest(query) < number - 1:
            time.sleep(POLL_S)
        say(f"batch {number}")
        sys.stdin.readline()
    while query.isActive and newest(query) < job.last:
        time.sleep(POLL_S)
    progress = [json.loads(it.json) for it in query.recentProgress]
    query.stop()
    measured = [it for it in progress if job.first <= it["batchId"] < job.last]
    if len(measured) != job.last - job.first:
        raise SystemExit(f"batches are missing: {progress}")
    operators = measured[-1]["stateOperators"]
    began = progress[0]["stateOperators"]
    said = {
        "batches": [it["durationMs"] for it in measured],
        "rows": operators[0]["numRowsTotal"] if operators else 0,
        "metrics": began[0]["customMetrics"] if began else {},
    }
    say(json.dumps(said))
    spark.stop()


if __name__ == "__main__":
    run(Job(**json.loads(sys.argv[1])))
