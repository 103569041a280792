"""State of subtasks that is migrated, rolled back and brought back, or started from a savepoint."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import keyfold
from keyfold.admin.copies import SAVEPOINTS, savepoint
from keyfold.admin.rollback import rollback, undo_rollback
from keyfold.settings import PROVIDER_KEY
from kit.providers import ROCKSDB
from kit.session import NEEDS_JAR
from kit.subtask_states import BUG, Raises, redistributed
from python.tests.spark.subtasks import begun, is_whole

pytestmark = NEEDS_JAR

FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"


@pytest.mark.parametrize("checkpoint_format", ["1", "2"])
def test_after_a_migration_the_next_start_redistributes(
    spark: SparkSession, tmp_path: Path, checkpoint_format: str
) -> None:
    before = spark.newSession()
    before.conf.set(PROVIDER_KEY, ROCKSDB)
    before.conf.set(FORMAT, checkpoint_format)
    query = begun(before, tmp_path)
    keyfold.migrate(query.checkpoint, dry_run=False)
    dealt = [[0, 2, 4, 6, 7, 9, 11], [1, 3, 5, 8, 10, 12]]
    migrated = {
        "dealt": dealt,
        "all": dealt,
        "rules": [{v: {"v": v} for v in values} for values in dealt],
    }
    assert query.state() == migrated
    query.spark = spark
    query.add("in", [{"v": -1}])
    with pytest.raises(Exception, match=BUG):
        query.run(query.df(3, Raises()))
    query.run(query.df(5))
    assert query.state() == redistributed(migrated, 5)
    assert is_whole(query)


@pytest.mark.parametrize("batch", [0, 1])
def test_the_undo_of_a_rollback_brings_later_subtasks_back(
    spark: SparkSession, tmp_path: Path, batch: int
) -> None:
    query = begun(spark, tmp_path)
    query.start(3, [13, 14])
    query.start(5, [15, 16])
    before = query.state()
    aside = rollback(query.checkpoint, batch, dry_run=False).aside
    assert aside is not None
    # It redistributes, and begins no batch.
    with pytest.raises(Exception, match="sources"):
        query.run(query.df(4).union(query.source("other", "v int")))
    undo_rollback(query.checkpoint, aside)
    assert query.state() == before
    query.start(2, [-1])
    assert query.state() == redistributed(before, 2)
    assert is_whole(query)


def test_a_query_starts_from_a_savepoint_with_other_subtasks(
    spark: SparkSession, tmp_path: Path
) -> None:
    query = begun(spark, tmp_path)
    before = query.state()
    keyfold.redistribute(query.checkpoint, "op", 3, dry_run=False)
    savepoint(query.checkpoint, "stop")
    original, query.checkpoint = query.checkpoint, query.checkpoint / SAVEPOINTS / "stop"
    assert query.state() == before
    query.add("in", [{"v": -1}])
    with pytest.raises(Exception, match=BUG):
        query.run(query.df(4, Raises()))
    query.run(query.df(5))
    assert query.state() == redistributed(before, 5)
    assert is_whole(query)
    query.checkpoint = original
    assert query.state() == redistributed(before, 3)
