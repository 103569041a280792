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
# After a restart, so that the first batch ends before another one begins.
NEXT_BATCH = "30 seconds"


@dataclass(frozen=True)
class Job:
    """A count of `keys` keys by batches of `rows` rows; if not `has_state` just the same shuffle.

    The batches `first` to `last` - 1 are measured. As `first` and `last` begin it says so in a
    line, and waits for one. Earlier runs have done `done` batches.
    """

    settings: dict[str, str]
    checkpoint: str
    rows: int
    keys: int
    has_state: bool
    first: int
    last: int
    done: int = 0


def ended(query: StreamingQuery, job: Job) -> int:
    """Number of batches that have ended; the whole progress would take long to ask for."""
    progress = query._jsq.lastProgress()  # noqa: SLF001
    return int(progress.batchId()) + 1 if progress else job.done


def say(line: str) -> None:
    """Print a line for the process that waits for it."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run(job: Job) -> None:
    """Print what Spark reports of the measured batches: milliseconds by phase.

    And the state store's metrics of the first batch, in which state is loaded.
    """
    builder = SparkSession.builder.config(map=dict(job.settings))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", job.rows)
    rows = source.option("numPartitions", SOURCE_PARTITIONS).load()
    rows = rows.selectExpr(f"value * {FACTOR} % {job.keys} AS key")
    rows = rows.groupBy("key").count() if job.has_state else rows.repartition("key")

    writing = rows.writeStream.format("noop").outputMode("update" if job.has_state else "append")
    if job.done:
        writing = writing.trigger(processingTime=NEXT_BATCH)
    query = writing.option("checkpointLocation", job.checkpoint).start()
    for number in (job.first, job.last):
        while query.isActive and ended(query, job) < number:
            time.sleep(POLL_S)
        say(f"batch {number}")
        sys.stdin.readline()
    progress = [json.loads(it.json) for it in query.recentProgress]
    query.stop()
    measured = [it for it in progress if job.first <= it["batchId"] < job.last]
    if len(measured) != job.last - job.first:
        raise SystemExit(f"batches are missing: {progress}")
    operators = measured[-1]["stateOperators"]
    began = progress[0]["stateOperators"]
    if operators and operators[0]["numRowsTotal"] != job.keys:
        raise SystemExit(f"the state has {operators[0]['numRowsTotal']} rows, not {job.keys}")
    said = {
        "batches": [it["durationMs"] for it in measured],
        "metrics": began[0]["customMetrics"] if began else {},
    }
    say(json.dumps(said))
    spark.stop()


if __name__ == "__main__":
    run(Job(**json.loads(sys.argv[1])))
