"""A migrated checkpoint: its older batches, and files of theirs, are another provider's."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

import keyfold
from keyfold.checkpoint import Checkpoint
from keyfold.cli.main import cli
from keyfold.errors import JvmError, OtherProviderError
from keyfold.fsck.finding import Kind
from keyfold.settings import PROVIDER_CLASS
from kit.files import files_in
from kit.providers import HDFS, ROCKSDB
from kit.reading import compare
from kit.session import NEEDS_JAR
from python.tests.spark import processor
from python.tests.spark.operators import OPERATORS, SCHEMA, marked, rows
from python.tests.spark.processor import Visits
from python.tests.spark.query import Query

pytestmark = [*NEEDS_JAR, pytest.mark.timeout(400)]

cloudpickle.register_pickle_by_value(processor)


def with_variables(stream: DataFrame) -> DataFrame:
    grouped = marked(stream).groupBy("k")
    return grouped.transformWithState(Visits(), "n long", "update", "EventTime")


CASES: dict[str, tuple[str, str, Callable[[DataFrame], DataFrame], str]] = {
    "agg, RocksDB, format 1": (ROCKSDB, "1", *OPERATORS["agg"][:2]),
    "agg, RocksDB, format 2": (ROCKSDB, "2", *OPERATORS["agg"][:2]),
    "agg, HDFSBacked": (HDFS, "1", *OPERATORS["agg"][:2]),
    "dedup, RocksDB": (ROCKSDB, "1", *OPERATORS["dedup"][:2]),
    "session, HDFSBacked": (HDFS, "1", *OPERATORS["session"][:2]),
    "join, HDFSBacked": (HDFS, "1", *OPERATORS["join"][:2]),
    "tws, RocksDB": (ROCKSDB, "2", with_variables, "update"),
}


class Migrated:
    """A query that another provider has kept for three runs, and Keyfold since."""

    def __init__(self, spark: SparkSession, root: Path, case: str) -> None:
        self.provider, checkpoint_format, build, mode = CASES[case]
        conf = {
            "stateStore__checkpointFormatVersion": checkpoint_format,
            "minBatchesToRetain": "3",
        }
        before = Query(
            spark, root, SCHEMA, build, mode, stateStore__providerClass=self.provider, **conf
        )
        self.number = 0
        self.query = before
        for _ in range(3):
            self.run()
        done = keyfold.migrate(before.checkpoint, dry_run=False)
        self.last = done.last_batch
        self.own = done.last_batch + 1
        self.path = before.checkpoint
        conf["stateStore__checkpointFormatVersion"] = "2"
        self.query = Query(spark, root, SCHEMA, build, mode, **conf)

    def run(self) -> None:
        self.query.run(rows(self.number, 20))
        self.number += 1

    @property
    def opened(self) -> Checkpoint:
        return keyfold.open_checkpoint(self.path)


@pytest.mark.parametrize("case", CASES)
def test_its_older_batches_are_another_providers(
    spark: SparkSession, tmp_path: Path, case: str
) -> None:
    it = Migrated(spark, tmp_path, case)
    for runs in (0, 1):
        for _ in range(runs):
            it.run()
        healthy(spark, it)
        older_batches_are_refused(it)
    if case.startswith("agg"):
        advice_is_right(spark, it)
    commands(it)
    changes(spark, it)


def advice_is_right(spark: SparkSession, it: Migrated) -> None:
    """Spark reads the batch as the error says."""
    with pytest.raises(OtherProviderError) as refused:
        it.opened[0].only.scan(batch=it.last).to_arrow()
    said = re.search(r"batchId=(\d+), in a session with (\S+)=(\d)\.$", str(refused.value))
    assert said is not None
    session = spark.newSession()
    session.conf.set(said[2], said[3])
    rows = session.read.format("statestore").option("batchId", said[1]).load(str(it.path))
    assert rows.count() > 0


def healthy(spark: SparkSession, it: Migrated) -> None:
    described = it.opened.describe()
    assert described.problems == ()
    assert described.provider == PROVIDER_CLASS
    earlier = described.earlier_batches
    assert earlier is not None
    assert (earlier.provider, earlier.last) == (it.provider, it.last)
    assert it.provider.rpartition(".")[2] in str(described)
    for operator in described.operators:
        assert operator.oldest_loadable_version == it.own + 1
        assert operator.newest_loadable_version == it.opened.last_batch + 1
    found = it.opened.fsck(deep=True)
    assert found.findings == ()
    assert f" of {it.provider.rpartition('.')[2]}: not looked at" in str(found)
    assert found.batches == it.opened.last_batch - it.last
    kept = {row["batch_id"]: row["provider"] for row in it.opened.batches().to_pylist()}
    assert kept[it.last] == it.provider
    assert kept[it.own] == PROVIDER_CLASS
    files = it.opened.inspect.files().to_pylist()
    assert min(row["batch_id"] for row in files) == it.own
    assert sum(compare(spark, it.path).values()) > 0


def older_batches_are_refused(it: Migrated) -> None:
    opened = it.opened
    inspect = opened.inspect
    table = next(each for each in opened[0].tables.values() if each.count())
    key = table.scan(limit=1).to_pylist()[0]["key"]
    calls: list[Callable[[], object]] = [
        lambda: table.get(key, it.last),
        lambda: table.scan(batch=it.last).to_arrow(),
        lambda: list(table.scan(batch=it.last).batches()),
        lambda: table.count(it.last),
        lambda: table.diff(it.last),
        lambda: table.to_spark(it.query.spark, batch=it.last),
        lambda: inspect.partitions(it.last),
        lambda: inspect.groups(it.last),
        lambda: inspect.column_families(it.last),
        lambda: inspect.skew(batch=it.last),
        lambda: opened.rollback(it.last),
        lambda: opened.clone(it.path.parent / "older", batch=it.last),
    ]
    for call in calls:
        with pytest.raises(OtherProviderError, match=it.provider) as caught:
            call()
        assert f"Choose batch {it.own} or a later one." in str(caught.value)
    assert set(table.history(key)["batch_id"].to_pylist()[:1]) <= {it.own, it.own + 1}
    if opened.last_batch != it.own:
        table.diff(it.own)


def commands(it: Migrated) -> None:
    """Each command that reads, of the newest batch and of one from before the migration."""
    path = str(it.path)
    page = it.path.parent / "state.html"
    operator = it.opened[0]
    name = next(name for name, table in operator.tables.items() if table.count())
    table = "0" if len(operator.tables) == 1 else f"0/{name}"
    for expected, command in [
        (0, ["describe"]),
        (0, ["fsck", "--deep"]),
        *((0, ["inspect", what]) for what in ("partitions", "files", "snapshots", "deltas")),
        *((0, ["inspect", what]) for what in ("groups", "skew", "batches", "operators")),
        (0, ["scan", table]),
        (3, ["scan", table, "--batch", str(it.last)]),
        (0, ["diff", table, str(it.own)]),
        (3, ["diff", table, str(it.last)]),
        (0, ["report", str(page)]),
        (3, ["rollback", "--to-batch", str(it.last)]),
        (3, ["clone", str(it.path.parent / "older"), "--batch", str(it.last)]),
        (0, ["savepoint"]),
    ]:
        verb, *options = command
        done = CliRunner().invoke(cli, [verb, path, *options])
        assert done.exit_code == expected, (command, done.output)
        assert expected == 0 or it.provider in done.stderr
    assert it.provider.rpartition(".")[2] in page.read_text(encoding="utf-8")


def changes(spark: SparkSession, it: Migrated) -> None:
    """Copies, vacuum and rollback work on what is Keyfold's, and leave the rest."""
    before = files_in(it.path)
    assert it.opened.vacuum(older_than_hours=0, dry_run=False).unreferenced == ()
    assert files_in(it.path) == before
    copied = it.path.parent / "copy"
    it.opened.clone(copied, batch=it.own)
    it.opened.savepoint("kept")
    for path in (copied, it.path / "keyfold" / "savepoints" / "kept"):
        opened = keyfold.open_checkpoint(path)
        assert opened.fsck(deep=True).findings == ()
        assert opened.describe().earlier_batches is None
        compare(spark, path)
    newest = it.opened.last_batch
    it.opened.rollback(it.own, dry_run=False)
    assert it.opened.last_batch == it.own
    assert newest is not None
    assert newest > it.own
    with pytest.raises(JvmError, match="not before the last"):
        it.opened.rollback(it.own)
    assert it.opened.fsck(deep=True).findings == ()
    it.run()
    healthy(spark, it)


@pytest.mark.parametrize("case", ["agg, RocksDB, format 2", "join, HDFSBacked"])
def test_what_the_other_provider_has_left_goes_when_no_batch_is_its(
    spark: SparkSession, tmp_path: Path, case: str
) -> None:
    it = Migrated(spark, tmp_path, case)
    old = {path for path in (it.path / "state").rglob("*.*") if is_of(path, it)}
    assert old
    # Maintenance deletes, in its own time.
    for _ in range(60):
        it.run()
        if it.opened.describe().earlier_batches is None and (
            it.provider == ROCKSDB or not any(path.exists() for path in old)
        ):
            break
    found = it.opened.fsck(deep=True)
    assert found.ok
    left = {path for path in old if path.exists()}
    assert {each.kind for each in found.findings} == ({Kind.UNREFERENCED} if left else set())
    told = [Path(each.path) for each in found.findings]
    assert all(any(path.is_relative_to(each) for each in told) for path in left)
    assert (it.provider == ROCKSDB) == bool(left)

    it.opened.vacuum(older_than_hours=0, dry_run=False)
    assert not any(path.exists() for path in old)
    assert it.opened.fsck(deep=True).findings == ()
    it.run()
    compare(spark, it.path)


def is_of(path: Path, it: Migrated) -> bool:
    """Whether a file is of the provider before: by its name, and not by what this package says."""
    version = path.name.partition(".")[0].partition("_")[0]
    if it.provider == ROCKSDB:
        return path.suffix in {".zip", ".sst", ".changelog"}
    return path.suffix in {".delta", ".snapshot"} and int(version) <= it.own
