"""Checks and scans as tasks of Spark, through a classic session and through Spark Connect."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow.compute as pc
import pytest
from pyspark.sql import functions as sf

import keyfold
from keyfold.admin.vacuum import vacuum
from keyfold.checkpoint import Checkpoint
from kit.fake_checkpoint import FakeCheckpoint
from kit.reading import bag
from kit.session import NEEDS_JAR
from kit.state_writer import StateWriter

pytestmark = NEEDS_JAR

PARTITIONS = 3


@pytest.fixture
def writer(fake: FakeCheckpoint) -> StateWriter:
    found = StateWriter(fake, partitions=PARTITIONS)
    found.batch({key: key for key in range(60)})
    found.batch({key: 2 * key for key in range(0, 60, 5)}, snapshots=True)
    found.batch({1: 11, 2: None})
    return found


@pytest.fixture
def opened(writer: StateWriter) -> Checkpoint:
    return keyfold.open_checkpoint(writer.fake.root)


@pytest.mark.parametrize("deep", [False, True])
def test_a_check_finds_the_same_in_the_same_order(
    either: Any, writer: StateWriter, opened: Checkpoint, *, deep: bool
) -> None:
    healthy = opened.fsck(deep=deep, spark=either)
    assert healthy == opened.fsck(deep=deep)
    assert (healthy.ok, healthy.batches, healthy.files) == (True, 3, 4 * PARTITIONS)

    writer.path(3, "delta", 2).write_bytes(b"LZ4Block" * 20)
    writer.path(1, "delta", 1).unlink()
    writer.path(2, "snapshot", 0).unlink()
    writer.fake.write("state/0/1/notes.txt", b"hello")
    told: list[tuple[int, int]] = []
    found = opened.fsck(deep=deep, spark=either, progress=lambda *it: told.append(it))
    assert found == opened.fsck(deep=deep)
    assert {it.kind.value for it in found.findings} == {"damaged", "expired", "unreferenced"}
    assert told[-1] == (PARTITIONS, PARTITIONS)


def test_nothing_to_check_is_no_task(either: Any, fake: FakeCheckpoint) -> None:
    fake.start(0)
    assert keyfold.open_checkpoint(fake.root).fsck(spark=either).findings == ()


def test_a_frame_has_what_a_scan_has(either: Any, opened: Checkpoint) -> None:
    table = opened["agg"]

    def same(**asked: Any) -> int:
        rows = table.scan(**asked).to_arrow()
        assert bag(table.to_spark(either, **asked).toArrow()) == bag(rows)
        return int(rows.num_rows)

    assert same() == 59
    assert same(batch=0) == 60
    assert same(where="key.id < 10 and value.total != 3") == 8
    assert same(where=pc.field("partition_id") == 1, columns=["value.total"], batch=-2) > 0
    with pytest.raises(keyfold.KeyfoldError, match="nothing"):
        table.to_spark(either, columns=["nothing"])
    frame = table.to_spark(either).select("partition_id", sf_partition(either))
    tasks = frame.distinct().collect()
    assert sorted(map(tuple, tasks)) == [(it, it) for it in range(PARTITIONS)]


def sf_partition(spark: Any) -> Any:
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        from pyspark.sql.connect.functions import spark_partition_id  # noqa: PLC0415

        return spark_partition_id()
    return sf.spark_partition_id()


def test_a_check_has_a_task_for_each_partition(spark: Any, opened: Checkpoint) -> None:
    spark.sparkContext.setJobGroup("check", "check")
    opened.fsck(spark=spark)
    tracker = spark.sparkContext.statusTracker()
    (job,) = tracker.getJobIdsForGroup("check")
    (stage,) = tracker.getJobInfo(job).stageIds
    assert tracker.getStageInfo(stage).numTasks == PARTITIONS


def test_a_command_from_another_thread_uses_the_session_and_leaves_it(
    spark: Any, writer: StateWriter
) -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(vacuum, str(writer.fake.root), []).result().unreferenced == ()
    assert spark.range(2).count() == 2
