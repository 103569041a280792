"""A query is watched while it runs: what is seen is what Spark says of its batches."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from keyfold.storage.storage import Storage
from keyfold.watch.batch import WatchedBatch
from keyfold.watch.look import Look
from keyfold.watch.watcher import Watcher
from kit.session import NEEDS_JAR

pytestmark = NEEDS_JAR

BATCHES = 12
KEYS = 20
# Of a busy machine: how much later a file may be written than Spark says.
LATE_MS = 2000


def test_what_is_seen_is_what_spark_says(spark: SparkSession, tmp_path: Path) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.streaming.minBatchesToRetain", "2")
    session.conf.set("spark.sql.streaming.ratioExtraSpaceAllowedInCheckpoint", "0")
    stream = session.readStream.format("rate-micro-batch").option("rowsPerBatch", 50).load()
    counted = stream.select((stream.value % KEYS).alias("k")).groupBy("k").count()
    writer = counted.writeStream.outputMode("update").format("noop")
    writer = writer.option("checkpointLocation", str(tmp_path / "cp"))
    watcher = Watcher(Storage(tmp_path / "cp"))
    assert watcher.look().last is None
    query = writer.trigger(processingTime="300 milliseconds").start()
    try:
        looks, said = watched(watcher, query)
    finally:
        query.stop()
    assert [it.note for it in looks if it.note] == []
    assert [it.problems for it in looks if it.problems] == []
    seen = {it.batch_id: it for it in watcher.look().batches}
    known = sorted(seen.keys() & said.keys())
    assert len(known) >= BATCHES
    for number in known:
        check(seen[number], said[number])
    assert looks[-1].query_id == query.id


def watched(watcher: Watcher, query: StreamingQuery) -> tuple[list[Look], dict[int, Any]]:
    """Looks all the time, and Spark's progress of each batch that had input."""
    looks: list[Look] = []
    said: dict[int, Any] = {}
    while len(said) < BATCHES:
        assert query.exception() is None
        looks.append(watcher.look())
        said |= {it["batchId"]: it for it in query.recentProgress if it["numInputRows"]}
        time.sleep(0.05)
    return looks, said


def check(seen: WatchedBatch, said: dict[str, Any]) -> None:
    """What was seen of a batch, and its progress."""
    began = datetime.fromisoformat(said["timestamp"]).timestamp() * 1000
    took = said["durationMs"]["triggerExecution"]
    (state,) = said["stateOperators"]
    assert seen.started_ms is not None
    # The progress has the time of the trigger, shortly before the batch's own.
    assert 0 <= seen.started_ms - began < LATE_MS
    assert seen.duration_ms is not None
    assert seen.duration_ms <= took
    assert seen.duration_ms > said["durationMs"]["addBatch"] * 0.5
    if seen.changes is None:
        # Two batches are retained: the next but one was committed before it was looked at.
        return
    assert seen.rows == state["numRowsTotal"] == KEYS
    assert seen.changes == state["numRowsUpdated"] == KEYS
    assert seen.commit_ms is not None
    assert seen.commit_ms <= seen.duration_ms
    times = (seen.started_ms, seen.first_state_ms, seen.last_state_ms, seen.committed_ms)
    assert sorted(times) == list(times)  # type: ignore[type-var]
    assert sum(it.changes for it in seen.hottest) <= KEYS
    assert seen.partitions == 2
