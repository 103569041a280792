"""Each call that takes a session or a DataFrame, from a client of Spark Connect."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pytest
from pyspark.cloudpickle import register_pickle_by_value

import keyfold
from keyfold.admin.copies import clone, savepoint
from keyfold.admin.rollback import rollback, undo_rollback
from keyfold.admin.sync import sync
from keyfold.admin.vacuum import vacuum
from keyfold.errors import ClassicSessionError
from keyfold.settings import QUERY_SETTINGS
from kit.fake_checkpoint import FakeCheckpoint
from kit.files import files_in
from kit.places import ROOT
from kit.session import NEEDS_JAR
from kit.state_writer import StateWriter

pytestmark = NEEDS_JAR

# Workers do not have the tests' modules.
register_pickle_by_value(sys.modules[__name__])

PAGE = ROOT / "docs" / "api.md"
# They start a session, or take the one that is active.
OF_ACTIVE = {
    f"keyfold.Checkpoint.{it}" for it in ("savepoint", "clone", "sync", "rollback", "vacuum")
}


@pytest.fixture(autouse=True)
def remote(connect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As SparkSession.builder.remote sets it, of which a process has one kind only."""
    assert connect is not None
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")


@pytest.fixture
def path(fake: FakeCheckpoint) -> str:
    writer = StateWriter(fake, partitions=2)
    writer.batch({key: key for key in range(20)})
    writer.batch({1: 11})
    return str(fake.root)


def configures(spark: Any, path: str) -> None:
    del path
    spark.conf.unset(next(iter(QUERY_SETTINGS)))
    assert keyfold.configure(spark) is spark
    assert {key: spark.conf.get(key) for key in QUERY_SETTINGS} == dict(QUERY_SETTINGS)


def checks(spark: Any, path: str) -> None:
    del path
    assert keyfold.check(spark).ok


def reads(spark: Any, path: str) -> None:
    operator = keyfold.open_checkpoint(path)["agg"]
    assert operator.to_spark(spark, where="key.id == 1").count() == 1


def reads_table(spark: Any, path: str) -> None:
    assert keyfold.open_checkpoint(path)["agg"].only.to_spark(spark, batch=0).count() == 20


def finds_damage(spark: Any, path: str) -> None:
    assert keyfold.open_checkpoint(path).fsck(deep=True, spark=spark).files > 0


def runs_operator(spark: Any, path: str) -> None:
    root = Path(path).parent
    (root / "in").mkdir()
    lines = [f'{{"v":{v},"at":"2026-01-01T00:00:00Z"}}' for v in range(10)]
    (root / "in" / "1.json").write_text("\n".join(lines))
    rows = spark.readStream.schema("v int, at timestamp").json(str(root / "in"))
    found = keyfold.with_operator_state(
        rows.withWatermark("at", "1 minute"),
        Passes(),
        "count int, at timestamp",
        parallelism=2,
        event_time="at",
    )
    assert "spark.watermarkDelayMs" in found.schema["at"].metadata
    with pytest.raises(keyfold.KeyfoldError, match="has an operator 'Passes' already"):
        keyfold.with_operator_state(found, Passes(), "at timestamp", parallelism=2)
    query = found.select("count").writeStream.format("json")
    query = query.option("checkpointLocation", str(root / "checkpoint"))
    query.trigger(availableNow=True).start(str(root / "out")).awaitTermination()
    out = "\n".join(it.read_text() for it in (root / "out").glob("*.json"))
    assert out.split() == ['{"count":5}'] * 2
    [operator] = keyfold.open_checkpoint(root / "checkpoint").operators
    assert operator["counts"].count() == 2


class Passes(keyfold.OperatorFunction):
    """Yields how many rows its subtask has seen, at the time of the last."""

    def open(self, ctx: keyfold.OperatorContext) -> None:
        self.counts = ctx.list_state("counts", "count int")

    def process(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        count, at = sum(it for (it,) in self.counts.get()), None
        for batch in batches:
            count += batch.num_rows
            at = batch.column("at")[-1].as_py()
        self.counts.update([(count,)])
        yield pa.table({"count": pa.array([count], pa.int32()), "at": [at]})


WORK: dict[str, Callable[[Any, str], None]] = {
    "keyfold.configure": configures,
    "keyfold.check": checks,
    "keyfold.Operator.to_spark": reads,
    "keyfold.StateTable.to_spark": reads_table,
    "keyfold.Checkpoint.fsck": finds_damage,
    "keyfold.with_operator_state": runs_operator,
}

# By the command that the error names, after the path of the checkpoint.
REFUSED: dict[str, tuple[str, Callable[[str, Any], object]]] = {
    "rescale {} --to 3": (
        "keyfold.plan_rescale",
        lambda path, spark: keyfold.plan_rescale(path, 3, spark=spark),
    ),
    "rescale {} --to 3 --apply": (
        "keyfold.rescale",
        lambda path, spark: keyfold.rescale(path, 3, dry_run=False, spark=spark),
    ),
    "rescale {} --operator op --parallelism 3 --apply": (
        "keyfold.redistribute",
        lambda path, spark: keyfold.redistribute(path, "op", 3, dry_run=False, spark=spark),
    ),
    "rescale {} --undo --apply": (
        "keyfold.undo_rescale",
        lambda path, spark: keyfold.undo_rescale(path, dry_run=False, spark=spark),
    ),
    "migrate {} --apply": (
        "keyfold.migrate",
        lambda path, spark: keyfold.migrate(path, dry_run=False, spark=spark),
    ),
    "migrate {} --undo": (
        "keyfold.undo_migration",
        lambda path, spark: keyfold.undo_migration(path, spark=spark),
    ),
    "edit {} 0 --put rows.parquet": (
        "keyfold.write_state",
        lambda path, spark: keyfold.write_state(spark.range(1), path),
    ),
    "evolve {} --to FILE.py:FUNCTION --into /new --output-mode update": (
        "keyfold.evolve",
        lambda path, spark: keyfold.evolve(
            path, spark.readStream.format("rate").load(), "/new", output_mode="update"
        ),
    ),
    "rollback {} --to-batch 0 --sink-path '/a sink'": (
        "keyfold.admin.rollback.rollback",
        lambda path, spark: rollback(path, 0, sink_path="/a sink", spark=spark),
    ),
    "rollback {} --to-batch 0": (
        "keyfold.Checkpoint.rollback",
        lambda path, _: keyfold.open_checkpoint(path).rollback(0),
    ),
    "rollback {} --undo rollback-0-a --apply": (
        "keyfold.admin.rollback.undo_rollback",
        lambda path, spark: undo_rollback(path, "rollback-0-a", spark=spark),
    ),
    "clone {} /copy --batch 0 --dry-run": (
        "keyfold.admin.copies.clone",
        lambda path, spark: clone(path, "/copy", batch=0, dry_run=True, spark=spark),
    ),
    "clone {} /copy": (
        "keyfold.Checkpoint.clone",
        lambda path, _: keyfold.open_checkpoint(path).clone("/copy"),
    ),
    "sync {} /copy": (
        "keyfold.admin.sync.sync",
        lambda path, spark: sync(path, "/copy", spark=spark),
    ),
    "sync {} /other": (
        "keyfold.Checkpoint.sync",
        lambda path, _: keyfold.open_checkpoint(path).sync("/other"),
    ),
    "savepoint {} before": (
        "keyfold.admin.copies.savepoint",
        lambda path, spark: savepoint(path, "before", spark=spark),
    ),
    "savepoint {} after": (
        "keyfold.Checkpoint.savepoint",
        lambda path, _: keyfold.open_checkpoint(path).savepoint("after"),
    ),
    "vacuum {} --older-than-hours 1.5 --apply": (
        "keyfold.admin.vacuum.vacuum",
        lambda path, spark: vacuum(path, [], older_than_hours=1.5, dry_run=False, spark=spark),
    ),
    "vacuum {} --older-than-hours 24": (
        "keyfold.Checkpoint.vacuum",
        lambda path, _: keyfold.open_checkpoint(path).vacuum(),
    ),
}


def bootstraps(path: str, spark: Any) -> None:
    keyfold.bootstrap(spark.readStream.format("rate").load(), f"{path}-2")


# By what the error says to do, which no command line can.
ONLY_SUBMITTED = {"spark-submit": ("keyfold.bootstrap", bootstraps)}


def public() -> Iterator[tuple[str, Any]]:
    """The functions of the package and of what the page of its API names, and their methods."""
    named = re.findall(r"^::: (\S+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    for name in {*named, *(f"keyfold.{it}" for it in keyfold.__all__)}:
        owner, _, last = name.rpartition(".")
        found = getattr(importlib.import_module(owner), last, None) if owner else None
        if inspect.isfunction(found):
            yield name, found
        elif inspect.isclass(found):
            its = inspect.getmembers(found, inspect.isfunction)
            yield from ((f"{name}.{it}", method) for it, method in its if it[0] != "_")


def takes_spark(function: Any) -> bool:
    """Whether an argument is a session, its builder or a DataFrame."""
    for it in inspect.signature(function).parameters.values():
        variable = function.__globals__.get(str(it.annotation))
        said = variable.__constraints__ if isinstance(variable, TypeVar) else it.annotation
        if re.search(r"SparkSession|(?<!pd\.)\bDataFrame", str(said)):
            return True
    return False


def page() -> dict[str, str]:
    """What the table of docs/api.md says of each call."""
    text = PAGE.read_text(encoding="utf-8").partition("## From a Spark Connect client\n")[2]
    rows = re.findall(r"^\| `(\S+)` \| (.*) \|$", text.partition("\n## ")[0], re.MULTILINE)
    return dict(rows)


def test_each_call_that_takes_a_session_is_on_the_page_and_tried_here() -> None:
    known = {name for name, function in public() if takes_spark(function)} | OF_ACTIVE
    assert set(page()) == known
    refused = (*REFUSED.values(), *ONLY_SUBMITTED.values())
    assert {*WORK, *(name for name, _ in refused)} == known
    assert {name for name, said in page().items() if said.startswith("works")} == set(WORK)


@pytest.mark.parametrize("name", WORK)
def test_what_works_through_connect(connect: Any, path: str, name: str) -> None:
    WORK[name](connect, path)


def test_an_operator_with_state_says_where_it_runs_instead_on_spark_4_0(
    connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql.connect.group import GroupedData  # noqa: PLC0415 - warns of pandas

    monkeypatch.delattr(GroupedData, "transformWithStateInPandas", raising=False)
    rows = connect.readStream.format("rate").load()
    with pytest.raises(ClassicSessionError, match=r"Spark 4\.1 or later, .*spark-submit"):
        keyfold.with_operator_state(rows, Passes(), "v long", parallelism=2)


@pytest.mark.parametrize("command", REFUSED)
def test_what_changes_a_checkpoint_names_the_command_line(
    connect: Any, path: str, command: str
) -> None:
    before = files_in(Path(path))
    name, call = REFUSED[command]
    with pytest.raises(ClassicSessionError) as caught:
        call(path, connect)
    assert str(caught.value).endswith(f": keyfold {command.format(path)}")
    assert files_in(Path(path)) == before
    [said] = re.findall(r"`keyfold (\S+) CHECKPOINT([^`]*)`", page()[name])
    verb, *words = command.split()
    assert said[0] == verb
    assert {it for it in said[1].split() if it.startswith("--")} <= {*words, "--apply"}


@pytest.mark.parametrize("said", ONLY_SUBMITTED)
def test_what_needs_the_query_itself_says_where_to_run_it(
    connect: Any, path: str, said: str
) -> None:
    name, call = ONLY_SUBMITTED[said]
    with pytest.raises(ClassicSessionError, match=said):
        call(path, connect)
    assert said in page()[name]


CLIENT = """
import sys
sys.modules["py4j"] = None
import keyfold
from pyspark.sql import SparkSession

keyfold.configure(SparkSession.builder.remote(sys.argv[1]))
session = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
print(keyfold.check(keyfold.configure(session)).ok, keyfold.jar_path().is_file())
session.stop()
try:
    keyfold.rescale(sys.argv[2], 3)
except keyfold.KeyfoldError as error:
    print(error.condition)
"""


def test_pysparks_client_for_connect_alone_is_enough(connect_url: str, path: str) -> None:
    """The package pyspark-client has neither Py4J nor what starts a JVM."""
    # PySpark's own way to run as if it were that package.
    environment = os.environ | {"SPARK_SKIP_CONNECT_COMPAT_TESTS": "1"}
    command = [sys.executable, "-c", CLIENT, connect_url, path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "True", "KEYFOLD_CLASSIC_SESSION"], done.stderr
