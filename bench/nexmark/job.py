"""Run a query of Nexmark in this process, and print what it took as a line of JSON.

Usage: python -m bench.nexmark.job JOB, which is a `Job` in JSON.
"""

import json
import sys
import time
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

import keyfold
from bench.bigstate.query import disk
from bench.nexmark.cases import RATE, SEED
from bench.nexmark.generator import Generator
from bench.nexmark.queries import query_of
from bench.nexmark.stores import OURS
from bench.places.query import ended, say

POLL_S = 0.01
# A trigger after which no second batch begins by itself.
ONE_BATCH = "1000 days"


@dataclass(frozen=True)
class Job:
    """The batches `first` to `last` - 1 count. With `to` it is rescaled after them.

    With `is_restart` the query goes on for a batch, and nothing else counts.
    """

    settings: dict[str, str]
    checkpoint: str
    query: str
    store: str
    rows: int
    partitions: int
    first: int
    last: int
    to: int = 0
    is_restart: bool = False


def run(job: Job) -> dict[str, Any]:
    """What the job is for."""
    spark = SparkSession.builder.config(map=dict(job.settings)).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    writing = writer(spark, job)
    if job.is_restart:
        found: dict[str, Any] = {"restart_s": one_batch(writing, job.partitions)}
    else:
        found = steady(spark, writing, job)
        if job.to:
            found |= rescaled(spark, writing, job)
    spark.stop()
    return found


def writer(spark: SparkSession, job: Job) -> DataStreamWriter:
    """The query, whose answers go nowhere."""
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", job.rows)
    numbers = source.option("numPartitions", 2).load().selectExpr("value AS n")
    query = query_of(job.query)
    answer = query.over(numbers, Generator(SEED, RATE))
    writing = answer.writeStream.format("noop").outputMode(query.mode)
    return writing.option("checkpointLocation", job.checkpoint)


def steady(spark: SparkSession, writing: DataStreamWriter, job: Job) -> dict[str, Any]:
    """Milliseconds of each batch that counts, rows of the state, and bytes written meanwhile."""
    pid = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]  # noqa: SLF001
    query = writing.start()
    wait(query, job.first)
    before = disk(pid)[1]
    wait(query, job.last)
    written = disk(pid)[1] - before
    progress = [json.loads(it.json) for it in query.recentProgress]
    query.stop()
    counted = [it for it in progress if job.first <= it["batchId"] < job.last]
    if len(counted) != job.last - job.first:
        raise SystemExit(f"batches are missing: {[it['batchId'] for it in progress]}")
    operators = counted[-1]["stateOperators"]
    return {
        "ms": [it["durationMs"]["triggerExecution"] for it in counted],
        "state_rows": sum(it["numRowsTotal"] for it in operators),
        "written": written,
    }


def wait(query: StreamingQuery, count: int) -> None:
    """Until so many batches have ended."""
    while ended(query) < count:
        if not query.isActive:
            raise SystemExit(str(query.exception()))
        time.sleep(POLL_S)


def one_batch(writing: DataStreamWriter, partitions: int) -> float:
    """Seconds from the query's start to the end of its first batch, with so many partitions."""
    begun = time.monotonic()
    query = writing.trigger(processingTime=ONE_BATCH).start()
    wait(query, 1)
    took = time.monotonic() - begun
    progress = json.loads(query.recentProgress[-1].json)
    query.stop()
    found = {it["numShufflePartitions"] for it in progress["stateOperators"]}
    if found != {partitions}:
        raise SystemExit(f"{found} partitions instead of {partitions}")
    return took


def rescaled(spark: SparkSession, writing: DataStreamWriter, job: Job) -> dict[str, Any]:
    """Milliseconds of a rescale, and seconds from its begin to the first batch after it."""
    # The last batch may have been interrupted: this ends it, and it waits then.
    one_batch(writing, job.partitions)
    begun = time.monotonic()
    if job.store == OURS:
        keyfold.rescale(job.checkpoint, job.to, dry_run=False, spark=spark)
    else:
        # Spark's own, which Spark keeps to itself.
        jvm: Any = spark._jvm  # noqa: SLF001
        own = jvm.org.apache.spark.sql.keyfold.SparkRepartition
        own.run(spark._jsparkSession, job.checkpoint, job.to)  # noqa: SLF001
    took = time.monotonic() - begun
    one_batch(writing, job.to)
    return {"rescale_ms": took * 1000, "rescaled_s": time.monotonic() - begun}


if __name__ == "__main__":
    say(json.dumps(run(Job(**json.loads(sys.argv[1])))))
