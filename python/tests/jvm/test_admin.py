"""Rescale, rollback, clone, savepoint and migrate from Python, and the query's next runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import keyfold
from keyfold.admin.copies import clone, savepoint
from keyfold.admin.rescale import RescalePlan
from keyfold.admin.rollback import rollback, undo_rollback
from keyfold.admin.sync import sync
from keyfold.admin.vacuum import vacuum
from keyfold.cli.main import cli
from keyfold.errors import ClassicSessionError, JvmError
from keyfold.settings import PROVIDER_CLASS
from kit.files import files_in
from kit.providers import HDFS, ROCKSDB, session_of
from kit.tables import DeltaTable
from python.tests.jvm.word_queries import by_word, run

pytestmark = pytest.mark.spark

# By the hash of Spark's, they are in both partitions of two and in four of five.
FIRST = ["a", "b", "a", "c", "d", "e", "f"]
SECOND = ["a", "g", "b"]
THIRD = ["c", "h", "a"]


def assert_holds(spark: SparkSession, checkpoint: Path, partitions: int, *batches: str) -> None:
    """Spark's reader and Keyfold's find these words, each row once and where it belongs."""
    rows = spark.read.format("statestore").load(str(checkpoint))
    found = rows.select("key.word", "value.count").collect()
    assert sorted(map(tuple, found)) == sorted(Counter(batches).items())
    described = keyfold.open_checkpoint(checkpoint).describe()
    assert described.problems == ()
    assert [it.partitions for it in described.operators] == [partitions]
    assert described.rows == len(found)


@contextmanager
def refusal(condition: str, said: str) -> Iterator[None]:
    with pytest.raises(JvmError, match=said) as caught:
        yield
    assert caught.value.condition == condition


def rescaled(checkpoint: Path, partitions: int) -> RescalePlan:
    return keyfold.rescale(checkpoint, partitions, dry_run=False)


def test_a_query_goes_on_with_more_partitions_and_with_fewer(
    spark: SparkSession, tmp_path: Path
) -> None:
    checkpoint = run(spark, tmp_path, by_word, [FIRST])
    before = files_in(checkpoint)
    plan = keyfold.plan_rescale(checkpoint, 5)
    assert (plan.before, plan.after, plan.last_batch, plan.batch) == (2, 5, 0, 1)
    assert (plan.refusals, plan.applied, plan.duration_ms) == ((), False, None)
    assert plan.referenced_bytes > 0
    assert "2 -> 5" in str(plan)
    assert "not done" in str(plan)
    assert keyfold.rescale(checkpoint, 5) == plan
    assert files_in(checkpoint) == before

    done = rescaled(checkpoint, 5)
    assert (done.batch, done.after, done.applied) == (1, 5, True)
    assert done.duration_ms is not None
    assert f"rollback {done.checkpoint} --to-batch 0" in str(done)
    run(spark, tmp_path, by_word, [SECOND])
    assert_holds(spark, checkpoint, 5, *FIRST, *SECOND)

    assert rescaled(checkpoint, 1).before == 5
    run(spark, tmp_path, by_word, [THIRD])
    assert_holds(spark, checkpoint, 1, *FIRST, *SECOND, *THIRD)


def test_a_number_that_does_not_divide_the_key_groups_is_warned_of(
    spark: SparkSession, tmp_path: Path
) -> None:
    """10,080 is 2 * 2 * 2 * 2 * 2 * 3 * 3 * 5 * 7."""
    checkpoint = run(spark, tmp_path, by_word, [FIRST])
    (warning,) = (it for it in keyfold.plan_rescale(checkpoint, 64).warnings if "divide" in it)
    assert warning.endswith("the nearest that divide it: 63, 70")
    found = keyfold.plan_rescale(checkpoint, 63).warnings
    assert not any("divide" in it for it in found)


def test_a_query_that_was_stopped_in_a_batch_is_rescaled_before_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    checkpoint = run(spark, tmp_path, by_word, [FIRST, SECOND])
    for name in ("commits/1", "commits/.1.crc"):
        (checkpoint / name).unlink(missing_ok=True)
    plan = keyfold.plan_rescale(checkpoint, 5)
    assert (plan.refusals, plan.is_open, plan.last_batch, plan.batch) == ((), True, 0, 1)
    done = rescaled(checkpoint, 5)
    rows = spark.read.format("statestore").load(str(checkpoint))
    found = rows.select("key.word", "value.count").collect()
    assert sorted(map(tuple, found)) == sorted(Counter(FIRST).items())
    assert keyfold.open_checkpoint(checkpoint).describe().problems == ()
    assert keyfold.open_checkpoint(checkpoint).fsck(deep=True).findings == ()
    used = [it.relative_to(checkpoint) for it in checkpoint.glob("state/0/[01]/1_*.delta")]
    assert len(used) == 2
    with refusal("KEYFOLD_VACUUM_IN_USE", "may be referenced"):
        vacuum(str(checkpoint), [str(it) for it in used], older_than_hours=0, dry_run=False)

    [undo] = re.findall(r"keyfold (rescale .* --undo --apply)", str(done))
    assert CliRunner().invoke(cli, shlex.split(undo)).exit_code == 0
    assert_holds(spark, checkpoint, 2, *FIRST)
    assert keyfold.open_checkpoint(checkpoint).fsck(deep=True).findings == ()
    with refusal("KEYFOLD_RESCALE_UNDO", "undone already"):
        keyfold.undo_rescale(checkpoint, dry_run=False)

    rescaled(checkpoint, 5)
    run(spark, tmp_path, by_word, [THIRD])
    assert_holds(spark, checkpoint, 5, *FIRST, *SECOND, *THIRD)
    assert keyfold.open_checkpoint(checkpoint).fsck(deep=True).ok


def test_a_query_that_began_with_one_partition_loses_none_of_those_it_got(
    spark: SparkSession, tmp_path: Path
) -> None:
    partitions = "spark.sql.shuffle.partitions"
    two = spark.conf.get(partitions)
    spark.conf.set(partitions, "1")
    try:
        checkpoint = run(spark, tmp_path, by_word, [FIRST])
    finally:
        spark.conf.set(partitions, two)
    rescaled(checkpoint, 3)
    run(spark, tmp_path, by_word, [SECOND])
    assert_holds(spark, checkpoint, 3, *FIRST, *SECOND)
    assert keyfold.open_checkpoint(checkpoint).fsck(deep=True).findings == ()
    used = [it.relative_to(checkpoint) for it in checkpoint.glob("state/0/[12]/*.delta")]
    assert used
    with refusal("KEYFOLD_VACUUM_IN_USE", "retained batches"):
        vacuum(str(checkpoint), [str(it) for it in used], older_than_hours=0, dry_run=False)
    assert_holds(spark, checkpoint, 3, *FIRST, *SECOND)


def test_a_rescale_is_rolled_back_and_that_undone(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = run(spark, tmp_path, by_word, [FIRST])
    rescaled(checkpoint, 3)
    run(spark, tmp_path, by_word, [SECOND])

    before = files_in(checkpoint)
    plan = rollback(checkpoint, 0)
    assert (plan.before, plan.batch, plan.aside, plan.applied) == (2, 0, None, False)
    assert files_in(checkpoint) == before
    done = rollback(checkpoint, 0, dry_run=False)
    assert (done.before, done.batch, done.files, done.applied) == (2, 0, plan.files, True)
    assert done.aside is not None
    assert_holds(spark, checkpoint, 2, *FIRST)

    undone = undo_rollback(checkpoint, done.aside)
    assert (undone.before, undone.batch, undone.files) == (0, 2, plan.files)
    assert_holds(spark, checkpoint, 3, *FIRST, *SECOND)
    run(spark, tmp_path, by_word, [THIRD])
    assert_holds(spark, checkpoint, 3, *FIRST, *SECOND, *THIRD)


def test_the_way_back_of_a_table_is_told_after_the_rollback_too(
    spark: SparkSession, tmp_path: Path
) -> None:
    checkpoint = run(spark, tmp_path, by_word, [FIRST])
    run(spark, tmp_path, by_word, [SECOND])
    table = DeltaTable(tmp_path / "table")
    table.batches(str(keyfold.open_checkpoint(checkpoint).query_id), 0, 1)
    done = rollback(checkpoint, 0, dry_run=False)
    assert "and the plan has the SQL" in str(done)
    after = files_in(checkpoint)
    for dry_run in (True, False):
        again = rollback(checkpoint, 0, sink_path=str(table.root), dry_run=dry_run)
        assert (again.before, again.batch, again.files, again.applied) == (0, 0, 0, False)
        assert again.table is not None
        assert str(again.table.restore).endswith("TO VERSION AS OF 0")
        assert "none left to set aside" in str(again)
        assert "--apply" not in str(again)
    assert files_in(checkpoint) == after
    # What went back by other means has its old id, by which Delta would skip the batches.
    table.batches(str(keyfold.open_checkpoint(checkpoint).query_id), 1)
    with refusal("KEYFOLD_ROLLBACK_REFUSED", "is not before the last one"):
        rollback(checkpoint, 0, sink_path=str(table.root))
    with refusal("KEYFOLD_ROLLBACK_REFUSED", "is not before the last one"):
        rollback(checkpoint, 0)


def test_a_query_runs_on_from_the_batch_it_was_rolled_back_to(
    spark: SparkSession, tmp_path: Path
) -> None:
    checkpoint = run(spark, tmp_path, by_word, [FIRST])
    rescaled(checkpoint, 3)
    aside = rollback(checkpoint, 0, dry_run=False).aside
    assert aside is not None
    run(spark, tmp_path, by_word, [SECOND])
    assert_holds(spark, checkpoint, 2, *FIRST, *SECOND)
    with refusal("KEYFOLD_ROLLBACK_REFUSED", "has run since"):
        undo_rollback(checkpoint, aside)


def test_a_clone_and_its_original_go_on_apart(spark: SparkSession, tmp_path: Path) -> None:
    original = run(spark, tmp_path, by_word, [FIRST, SECOND])
    copied = tmp_path / "copy"
    plan = clone(original, copied, batch=0, dry_run=True)
    assert (plan.batch, plan.applied, copied.exists()) == (0, False, False)
    done = clone(original, copied, batch=0)
    assert (done.batch, done.files, done.applied) == (0, plan.files, True)
    assert_holds(spark, copied, 2, *FIRST)
    with refusal("KEYFOLD_CLONE_TARGET", "not empty"):
        clone(original, copied)

    rescaled(copied, 3)
    run(spark, tmp_path, by_word, [THIRD], "copy")
    assert_holds(spark, copied, 3, *FIRST, *SECOND, *THIRD)
    assert_holds(spark, original, 2, *FIRST, *SECOND)
    run(spark, tmp_path, by_word, [["i"]])
    assert_holds(spark, original, 2, *FIRST, *SECOND, *THIRD, "i")


def test_a_table_is_known_to_the_copy_that_is_brought_up_to_date(
    spark: SparkSession, tmp_path: Path
) -> None:
    checkpoint, copy = run(spark, tmp_path, by_word, [FIRST, SECOND]), tmp_path / "copy"
    query = json.loads((checkpoint / "metadata").read_text())["id"]
    table = DeltaTable(tmp_path / "table")
    table.batches(query, *range(5))
    done = sync(checkpoint, copy)
    assert (done.batch, done.deleted) == (1, 0)
    assert sync(checkpoint, copy).files == 0
    shutil.rmtree(checkpoint)
    planned = clone(copy, tmp_path / "new", sink_path=str(table.root), dry_run=True)
    assert planned.table is not None
    assert planned.table.known
    assert planned.table.batch == done.batch
    assert planned.table.restore


def test_a_query_goes_on_from_a_savepoint(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = run(spark, tmp_path, by_word, [FIRST])
    done = savepoint(checkpoint, "before")
    assert (done.batch, done.applied) == (0, True)
    run(spark, tmp_path, by_word, [SECOND])
    with refusal("KEYFOLD_CLONE_TARGET", "not empty"):
        savepoint(checkpoint, "before")
    with refusal("KEYFOLD_INVALID_ARGUMENT", "name of a savepoint"):
        savepoint(checkpoint, "../before")

    saved = checkpoint / "keyfold" / "savepoints" / "before"
    assert done.target.endswith(str(saved))
    assert_holds(spark, saved, 2, *FIRST)
    checkpoint.rename(tmp_path / "old")
    (tmp_path / "old" / "keyfold" / "savepoints" / "before").rename(checkpoint)
    run(spark, tmp_path, by_word, [THIRD])
    assert_holds(spark, checkpoint, 2, *FIRST, *SECOND, *THIRD)


def test_what_a_killed_writer_has_left_goes_once_it_is_old(
    spark: SparkSession, tmp_path: Path
) -> None:
    checkpoint = run(spark, tmp_path, by_word, [FIRST])
    before = files_in(checkpoint)
    left = checkpoint / "state/0/1/.2_a.delta.5f2b8a1e-93c4-4d0a-8b57-0c6f3e7d2a94.TID7.tmp"
    left.write_bytes(b"KFLD")
    opened = keyfold.open_checkpoint(checkpoint)
    (young,) = opened.vacuum(dry_run=False).unreferenced
    assert (young.path, young.bytes, young.old) == (str(left.relative_to(checkpoint)), 4, False)
    assert left.exists()
    # A query that runs may be about to rename it.
    assert not opened.vacuum(older_than_hours=0, dry_run=False).unreferenced[0].old
    earlier = time.time() - 900
    os.utime(left, (earlier, earlier))
    assert opened.vacuum(older_than_hours=0, dry_run=False).unreferenced[0].old
    assert files_in(checkpoint) == before


def test_a_relative_path_is_that_of_the_reader_wherever_spark_was_started(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = run(spark, tmp_path, by_word, [FIRST, SECOND])
    monkeypatch.chdir(tmp_path)
    here = checkpoint.relative_to(tmp_path)
    assert rollback(here, 0).batch == 0
    clone(here, "copy")
    assert keyfold.open_checkpoint("copy").fsck().ok


@pytest.mark.parametrize("checkpoint_format", [1, 2])
def test_a_checkpoint_of_rocksdb_becomes_keyfolds(
    spark: SparkSession, tmp_path: Path, checkpoint_format: int
) -> None:
    checkpoint = run(session_of(spark, ROCKSDB, checkpoint_format), tmp_path, by_word, [FIRST])
    before = files_in(checkpoint)
    plan = keyfold.migrate(checkpoint)
    assert (plan.last_batch, plan.partitions, plan.refusals) == (0, 2, ())
    assert (plan.provider, plan.operators, plan.applied) == (ROCKSDB, ("stateStoreSave",), False)
    assert files_in(checkpoint) == before

    context = spark.sparkContext
    group = f"migration of format {checkpoint_format}"
    context.setJobGroup(group, group)
    done = keyfold.migrate(checkpoint, dry_run=False)
    context.setJobGroup("after it", "after it")
    assert done.applied
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
    assert [stage.numTasks for stage in stages if stage] == [plan.partitions]
    run(spark, tmp_path, by_word, [SECOND])
    assert keyfold.open_checkpoint(checkpoint).describe().provider == PROVIDER_CLASS
    rescaled(checkpoint, 3)
    run(spark, tmp_path, by_word, [THIRD])
    assert_holds(spark, checkpoint, 3, *FIRST, *SECOND, *THIRD)


@pytest.mark.parametrize(("provider", "checkpoint_format"), [(HDFS, 1), (ROCKSDB, 2)])
def test_a_migration_is_given_up(
    spark: SparkSession, tmp_path: Path, provider: str, checkpoint_format: int
) -> None:
    old = session_of(spark, provider, checkpoint_format)
    checkpoint = run(old, tmp_path, by_word, [FIRST])
    before = files_in(checkpoint)
    keyfold.migrate(checkpoint, dry_run=False)
    after = files_in(checkpoint)
    plan = keyfold.undo_migration(checkpoint)
    assert (plan.batch, plan.provider, plan.files, plan.applied) == (1, provider, 2, False)
    assert files_in(checkpoint) == after
    assert keyfold.undo_migration(checkpoint, dry_run=False).applied
    assert files_in(checkpoint) == before

    run(old, tmp_path, by_word, [SECOND])
    rows = old.read.format("statestore").load(str(checkpoint))
    counts = Counter([*FIRST, *SECOND])
    assert dict(rows.select("key.word", "value.count").collect()) == counts


def test_a_refused_rescale_has_its_condition_and_changes_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    checkpoint = run(spark, tmp_path, by_word, [FIRST])
    before = files_in(checkpoint)
    with refusal("KEYFOLD_RESCALE_PARTITIONS", "must be at least 1"):
        rescaled(checkpoint, 0)
    with refusal("KEYFOLD_RESCALE_NO_BATCH", "no committed batch"):
        rescaled(tmp_path / "in", 5)
    with refusal("KEYFOLD_ROLLBACK_REFUSED", "not before the last"):
        rollback(checkpoint, 0)
    assert files_in(checkpoint) == before

    (tmp_path / "file").touch()
    with refusal("KEYFOLD_STORAGE", "run the command again"):
        clone(checkpoint, tmp_path / "file" / "copy")

    [said] = keyfold.plan_rescale(checkpoint, 2).refusals
    assert "already has 2 partitions" in said


def test_a_path_may_have_what_is_special_in_uris(spark: SparkSession, tmp_path: Path) -> None:
    # Spark's reader of state does not find such a checkpoint: what is read is a clone of it.
    name = "of a b%20c"
    checkpoint = run(spark, tmp_path, by_word, [FIRST], name)
    rescaled(checkpoint, 3)
    run(spark, tmp_path, by_word, [SECOND], name)
    aside = rollback(checkpoint, 0, dry_run=False).aside
    assert aside is not None
    undo_rollback(checkpoint, aside)
    run(spark, tmp_path, by_word, [THIRD], name)
    copied = tmp_path / "copy"
    clone(checkpoint, copied)
    assert_holds(spark, copied, 3, *FIRST, *SECOND, *THIRD)


@pytest.mark.parametrize(
    "call",
    [
        lambda path, session: keyfold.plan_rescale(path, 3, spark=session),
        lambda path, session: keyfold.rescale(path, 3, dry_run=False, spark=session),
        lambda path, session: keyfold.migrate(path, spark=session),
        lambda path, session: keyfold.undo_migration(path, spark=session),
        lambda path, session: rollback(path, 0, spark=session),
        lambda path, session: undo_rollback(path, "rollback-0-a", spark=session),
        lambda path, session: clone(path, path / "copy", spark=session),
        lambda path, session: savepoint(path, "name", spark=session),
        lambda path, session: sync(path, path / "copy", spark=session),
    ],
)
def test_a_session_of_spark_connect_is_refused(
    tmp_path: Path, call: Callable[[Path, object], object]
) -> None:
    session = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(ClassicSessionError, match="Use the command line"):
        call(tmp_path, session)
