"""Run a count in a process of its own; says before which batches it is, and what they took.

Usage: python -m bench.places.query JOB, which is a `Job` in JSON.
"""

import json
import sys
import time
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

SOURCE_PARTITIONS = 2
# No divisor in common with any number of keys: all come once before any comes again.
FACTOR = 104_729
POLL_S = 0.01


@dataclass(frozen=True)
class Job:
    """A count of `keys` keys by batches of `rows` rows; if not `has_state` just the same shuffle.

    The batches `first` to `last` - 1 are measured. As `first` and `last` begin it says so in a
    line, and waits for one. With `restarts` the query is started for each of them.
    """

    settings: dict[str, str]
    checkpoint: str
    rows: int
    keys: int
    has_state: bool
    first: int
    last: int
    restarts: bool = False


def ended(query: StreamingQuery) -> int:
    """Number of batches that have ended; the whole progress would take long to ask for."""
    progress = query._jsq.lastProgress()  # noqa: SLF001
    return int(progress.batchId()) + 1 if progress else 0


def say(line: str) -> None:
    """Print a line for the process that waits for it."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run(job: Job) -> None:
    """Print what Spark reports of the measured batches: milliseconds by phase, and of loads."""
    builder = SparkSession.builder.config(map=dict(job.settings))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", job.rows)
    rows = source.option("numPartitions", SOURCE_PARTITIONS).load()
    rows = rows.selectExpr(f"value * {FACTOR} % {job.keys} AS key")
    rows = rows.groupBy("key").count() if job.has_state else rows.repartition("key")

    writing = rows.writeStream.format("noop").outputMode("update" if job.has_state else "append")
    writing = writing.option("checkpointLocation", job.checkpoint)
    progress = (restarted if job.restarts else steady)(writing, job)
    measured = [it for it in progress if job.first <= it["batchId"] < job.last]
    if len(measured) != job.last - job.first:
        raise SystemExit(f"batches are missing: {progress}")
    operators = [it for batch in measured for it in batch["stateOperators"]]
    if any(it["numRowsTotal"] != job.keys for it in operators):
        raise SystemExit(f"the state does not have {job.keys} rows: {operators}")
    said = {
        "batches": [it["durationMs"] for it in measured],
        "loads": [it["customMetrics"].get("keyfoldLoadMs", 0) for it in operators],
    }
    say(json.dumps(said))
    spark.stop()


def steady(writing: DataStreamWriter, job: Job) -> list[dict[str, Any]]:
    """The progress of a query that runs through."""
    query = writing.start()
    for number in (job.first, job.last):
        while query.isActive and ended(query) < number:
            time.sleep(POLL_S)
        mark(number)
    progress = [json.loads(it.json) for it in query.recentProgress]
    query.stop()
    return progress


def restarted(writing: DataStreamWriter, job: Job) -> list[dict[str, Any]]:
    """The progress of a query that is started for each batch, and loads its state each time.

    The first of these starts does not count: nothing is warm in it.
    """
    progress = []
    for number in range(job.first - 1, job.last):
        if number == job.first:
            mark(number)
        query = writing.trigger(once=True).start()
        query.awaitTermination()
        progress += [json.loads(it.json) for it in query.recentProgress]
    mark(job.last)
    return progress


def mark(number: int) -> None:
    """Say that a batch begins, and wait until that is noted."""
    say(f"batch {number}")
    sys.stdin.readline()


if __name__ == "__main__":
    run(Job(**json.loads(sys.argv[1])))
