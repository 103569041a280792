"""State is read while its query runs and removes what is old: no error, and rows of one batch."""

from __future__ import annotations

import os
import time
from pathlib import Path

from pyspark.sql import SparkSession

import keyfold
from kit.session import NEEDS_JAR

pytestmark = NEEDS_JAR

SECONDS = float(os.environ.get("KEYFOLD_LIVE_SECONDS", "10"))
KEYS, ROWS = 20, 40


def test_every_read_is_of_one_batch(spark: SparkSession, tmp_path: Path) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.streaming.minBatchesToRetain", "2")
    session.conf.set("spark.sql.streaming.ratioExtraSpaceAllowedInCheckpoint", "0")
    stream = session.readStream.format("rate-micro-batch").option("rowsPerBatch", ROWS).load()
    counted = stream.select((stream.value % KEYS).alias("k")).groupBy("k").count()
    writer = counted.writeStream.outputMode("update").format("noop")
    query = writer.option("checkpointLocation", str(tmp_path / "cp")).start()
    try:
        while not query.lastProgress or query.lastProgress["batchId"] < 3:
            assert query.exception() is None
            time.sleep(0.05)
        seen = reads(tmp_path / "cp")
    finally:
        query.stop()
    # It was a race: batches went by while rows were read.
    assert len(seen) > 3


def reads(checkpoint: Path) -> set[int]:
    """Reads in every way until time is up; returns the batches that were seen."""
    opened = keyfold.open_checkpoint(checkpoint)
    operator = opened["agg"]
    seen: set[int] = set()
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        rows = operator.scan().to_pylist()
        assert sorted(row["key"]["k"] for row in rows) == list(range(KEYS))
        # Each batch counts every key twice, so in one batch's state all counts are the same.
        (count,) = {row["value"]["count"] for row in rows}
        seen.add(count)
        (row,) = operator.get({"k": 7}).to_pylist()
        assert row["value"]["count"] >= count
        assert count % (ROWS // KEYS) == 0
        assert operator.count() == KEYS
        assert operator.history({"k": 7}).num_rows > 0
        assert opened.describe().problems == ()
        assert opened.inspect.partitions().column("rows").null_count == 0
        assert opened.inspect.files().num_rows > 0
        report = opened.fsck(deep=True)
        assert [it for it in report.findings if it.is_damage] == [], str(report)
    return seen
