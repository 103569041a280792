"""A start of an operator with state of its subtasks that fails leaves no trace."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

import keyfold
from keyfold.errors import JvmError
from keyfold.subtasks import processor
from kit.session import NEEDS_JAR
from kit.subtask_states import BUG, Keeps, Raises, redistributed
from python.tests.spark.killed_start import PARTITIONS
from python.tests.spark.subtasks import Kept, begun, is_whole

pytestmark = NEEDS_JAR
register_pickle_by_value(sys.modules[__name__])


class LacksStates(keyfold.OperatorFunction):
    def open(self, ctx: keyfold.OperatorContext) -> None:
        ctx.list_state("dealt", "v int")


class HasAnother(Keeps):
    def open(self, ctx: keyfold.OperatorContext) -> None:
        super().open(ctx)
        ctx.list_state("another", "v int")


class HasAnotherKind(keyfold.OperatorFunction):
    def open(self, ctx: keyfold.OperatorContext) -> None:
        ctx.broadcast_state("dealt", "k int", "v int")
        ctx.list_state("all", "v int", redistribute="union")
        ctx.list_state("rules", "v int")


class RaisesWithAnotherKind(HasAnotherKind):
    process = Raises.process


@pytest.mark.parametrize("rescales", [False, True])
@pytest.mark.parametrize("why", ["raises", "sources"])
def test_the_next_start_finds_what_the_last_batch_left(
    spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest, why: str, *, rescales: bool
) -> None:
    query = begun(spark, tmp_path)
    before = query.state()
    partitions = int(spark.conf.get("spark.sql.shuffle.partitions"))
    request.addfinalizer(lambda: spark.conf.unset(PARTITIONS))

    def fails(parallelism: int) -> None:
        if rescales:
            spark.conf.set(PARTITIONS, parallelism + partitions)
        df = query.df(parallelism, Raises())
        if why == "sources":
            df = query.df(parallelism).union(query.source("other", "v int"))
        with pytest.raises(Exception, match=rf"{BUG}|sources"):
            query.run(df)
        if rescales:
            spark.conf.set(PARTITIONS, partitions)

    query.add("in", [{"v": -1}])
    query.add("other", [{"v": -1}])
    for parallelism in (3, 5, 3):
        fails(parallelism)
    query.start(2, [-1])
    assert query.state() == before
    query.add("in", [{"v": -1}])
    fails(4)
    query.start(3, [-1])
    assert query.state() == redistributed(before, 3)
    assert is_whole(query)


@pytest.mark.parametrize("bad", [LacksStates(), HasAnother(), HasAnotherKind()])
def test_states_that_a_refused_start_declared_are_not_believed(
    spark: SparkSession, tmp_path: Path, bad: keyfold.OperatorFunction
) -> None:
    query = begun(spark, tmp_path)
    query.add("in", [{"v": -1}])
    for parallelism in (2, 3):
        with pytest.raises(Exception, match=r"KEYFOLD_OPERATOR_STATE_CHANGED|STATE_STORE_"):
            query.run(query.df(parallelism, bad))
    query.start(2, [13, 14])
    before = query.state()
    query.start(3, [-1])
    assert query.state() == redistributed(before, 3)
    query.start(1, [-1])
    assert query.state() == redistributed(redistributed(before, 3), 1)
    assert is_whole(query)


def test_the_first_batch_may_have_been_tried_with_other_states(
    spark: SparkSession, tmp_path: Path
) -> None:
    query = Kept(spark, tmp_path, Keeps())
    query.add("in", [{"v": -1}])
    with pytest.raises(Exception, match=BUG):
        query.run(query.df(2, RaisesWithAnotherKind()))
    metadata = tmp_path / "checkpoint/state/0/_metadata/v2/0"
    declared = metadata.read_bytes()
    # Another driver may run the batch of which they are.
    with pytest.raises(Exception, match="sources"):
        query.run(query.df(2).union(query.source("other", "v int")))
    assert metadata.read_bytes() == declared
    query.start(2, range(7))
    query.start(2, range(7, 13))
    before = query.state()
    query.start(3, [-1])
    assert query.state() == redistributed(before, 3)
    assert is_whole(query)


def test_metadata_of_a_failed_attempt_stop_a_redistribution(
    spark: SparkSession, tmp_path: Path
) -> None:
    """As a session without the extension leaves them."""
    query = begun(spark, tmp_path)
    metadata = tmp_path / "checkpoint/state/0/_metadata/v2/2"
    query.add("in", [{"v": -1}])
    with pytest.raises(Exception, match="KEYFOLD_OPERATOR_STATE_CHANGED"):
        query.run(query.df(2, LacksStates()))
    left = metadata.read_bytes()
    query.start(2, [13, 14])
    before = query.state()
    assert metadata.read_bytes() != left
    metadata.write_bytes(left)
    metadata.with_name(".2.crc").unlink(missing_ok=True)
    commit = (tmp_path / "checkpoint/commits/2").read_bytes()
    with pytest.raises(JvmError, match=r"KEYFOLD_REDISTRIBUTE_STATES.*all, rules") as refused:
        keyfold.redistribute(tmp_path / "checkpoint", "op", 3, dry_run=False)
    assert "parallelism=2" in str(refused.value)
    assert (tmp_path / "checkpoint/commits/2").read_bytes() == commit
    query.add("in", [{"v": -1}])
    with pytest.raises(Exception, match="KEYFOLD_REDISTRIBUTE_STATES"):
        query.run(query.df(3))
    # As the message says.
    query.run(query.df(2))
    keyfold.redistribute(tmp_path / "checkpoint", "op", 3, dry_run=False)
    query.start(3, [-1])
    assert query.state() == redistributed(before, 3)


class Counts(StatefulProcessor):
    """Passes values on."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.count = handle.getValueState("count", "n int")

    def handleInputRows(  # noqa: N802 - PySpark's
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: ARG002, N803
    ) -> Iterator[pd.DataFrame]:
        self.count.update((sum(map(len, rows)),))
        yield pd.DataFrame({"v": [int(key[0])]})

    def close(self) -> None: ...


def test_an_operator_in_another_place_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    query = Kept(spark, tmp_path, Keeps())

    def counted(df: DataFrame) -> DataFrame:
        return df.groupBy("v").transformWithStateInPandas(Counts(), "v int", "update", "none")

    def op(df: DataFrame, parallelism: int = 2) -> DataFrame:
        return keyfold.with_operator_state(
            df, query.function, "v int", parallelism=parallelism, name="op"
        )

    source = query.source("in", "v int")
    for _ in range(2):
        query.add("in", [{"v": v} for v in range(4)])
        query.run(op(counted(source)))
    offsets = sorted(it.name for it in (tmp_path / "checkpoint/offsets").iterdir())
    query.add("in", [{"v": 4}])
    for parallelism in (2, 3):
        with pytest.raises(Exception, match="KEYFOLD_OPERATOR_PLACE"):
            query.run(counted(op(source, parallelism)))
    assert sorted(it.name for it in (tmp_path / "checkpoint/offsets").iterdir()) == offsets
    query.run(op(counted(source), 3))
    own = keyfold.open_checkpoint(tmp_path / "checkpoint").operators[0]["all"].scan().to_arrow()
    assert len(own) == 3 * 8 + 1


def test_state_in_avro_is_redistributed(spark: SparkSession, tmp_path: Path) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.streaming.stateStore.encodingFormat", "avro")
    query = begun(session, tmp_path)
    before = query.state()
    keyfold.redistribute(tmp_path / "checkpoint", "op", 3, dry_run=False)
    assert query.state() == redistributed(before, 3)
    assert is_whole(query)
    query.start(3, [-1])
    assert query.state() == redistributed(before, 3)


def test_fsck_sees_a_subtask_of_an_impossible_parallelism(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Damages(processor.SubtaskProcessor):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self._bounds = (0, 0)

    query = Kept(spark, tmp_path, Keeps())
    monkeypatch.setattr(processor, "SubtaskProcessor", Damages)
    query.start(2, range(4))
    found = keyfold.open_checkpoint(tmp_path / "checkpoint").fsck(deep=True)
    assert not found.ok
    said = "subtask 0 says in subtask_of_op that the operator has 0 subtasks"
    assert any(said in it.message for it in found.findings)
