"""State of an operator's subtasks in streaming queries on a real Spark."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql import DataFrame, SparkSession

import keyfold
from keyfold.errors import InvalidArgumentError, OperatorNameError, StateOutsideCallError
from kit.session import NEEDS_JAR

pytestmark = NEEDS_JAR
# Workers do not have the tests' modules.
register_pickle_by_value(sys.modules[__name__])

VECTORS = json.loads(
    (
        Path(__file__).parents[3] / "integration-tests/cluster/vectors/operator_state.json"
    ).read_text()
)
Rows = list[tuple[Any, ...]]


class Counter(keyfold.OperatorFunction):
    """Counts values above 6; yields its subtask and count for each."""

    def open(self, ctx: keyfold.OperatorContext) -> None:
        self.subtask = ctx.subtask
        self.counts = ctx.list_state("counts", "count int")

    def process(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        count = sum(it for (it,) in self.counts.get())
        for batch in batches:
            for v in batch.column("v").to_pylist():
                if v > 6:
                    count += 1
                    yield pa.table({"subtask": [self.subtask], "count": [count]})
        self.counts.update([(count,)])


class Collector(keyfold.OperatorFunction):
    """Keeps all values it has seen; yields them after each."""

    def open(self, ctx: keyfold.OperatorContext) -> None:
        self.subtask = ctx.subtask
        self.seen = ctx.list_state("seen", "v double", redistribute="union")

    def process(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        for batch in batches:
            for v in batch.column("v").to_pylist():
                self.seen.add(v)
                seen = [it for (it,) in self.seen.get()]
                yield pa.table({"subtask": [self.subtask], "list": [seen]})


class Rules(keyfold.OperatorFunction):
    """Rules of a second stream; tells which it knows, for each row, and what it was told."""

    def open(self, ctx: keyfold.OperatorContext) -> None:
        self.subtask, self.is_restored = ctx.subtask, ctx.is_restored
        self.rules = ctx.broadcast_state("rules", "id string", "rule string, subtask int")
        self.told = ctx.list_state("told", "batch long")

    def notify_committed(self, batch_id: int) -> None:
        self.told.add(batch_id)

    def process_broadcast(self, batches: Iterator[pa.RecordBatch]) -> None:
        for batch in batches:
            for it in batch.to_pylist():
                self.rules.put((it["id"],), (it["rule"], self.subtask))

    def process(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        for batch in batches:
            known = sorted(f"{k} {rule} {t}" for (k,), (rule, t) in self.rules.items())
            told = [it for (it,) in self.told.get()]
            for device in batch.column("device").to_pylist():
                line = json.dumps([device, known, self.is_restored, told])
                yield pa.table({"subtask": [self.subtask], "line": [line]})


class Query:
    """A query over a folder of files; each run takes those that are new, as one batch."""

    def __init__(self, spark: SparkSession, root: Path, function: keyfold.OperatorFunction) -> None:
        self.spark, self.root, self.function = spark, root, function
        self.rows: list[Rows] = []

    def source(self, name: str, schema: str) -> DataFrame:
        folder = self.root / name
        folder.mkdir(exist_ok=True)
        return self.spark.readStream.schema(schema).json(str(folder))

    def add(self, name: str, rows: list[dict[str, Any]]) -> None:
        folder = self.root / name
        folder.mkdir(exist_ok=True)
        text = "\n".join(map(json.dumps, rows))
        (folder / f"{len(list(folder.iterdir()))}.json").write_text(text)

    def run(self, df: DataFrame) -> Rows:
        """The output of the next batch, sorted."""
        found: Rows = []
        query = (
            df.writeStream.foreachBatch(lambda it, _: found.extend(map(tuple, it.collect())))
            .option("checkpointLocation", str(self.root / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return sorted(found)


def device_rows(records: list[Any]) -> list[dict[str, Any]]:
    return [{"device": device, "v": v} for device, v in records]


def test_counts_of_two_subtasks_are_those_published(spark: SparkSession, tmp_path: Path) -> None:
    query = Query(spark, tmp_path, Counter())
    query.add("in", device_rows(VECTORS["split_list"]["records"]))
    df = keyfold.with_operator_state(
        query.source("in", "device string, v double"),
        query.function,
        "subtask int, count int",
        parallelism=2,
    )
    assert query.run(df) == sorted(map(tuple, VECTORS["split_list"]["parallelism_2"]))
    # By name and subtask, without a JVM.
    [operator] = keyfold.open_checkpoint(tmp_path / "checkpoint").operators
    rows = operator["counts"].scan().to_arrow().to_pylist()
    assert sorted((it["key"]["subtask"], it["list_element"]["count"]) for it in rows) == [
        (0, 2),
        (1, 1),
    ]


def test_lists_of_two_subtasks_are_those_published(spark: SparkSession, tmp_path: Path) -> None:
    vector = VECTORS["union_list"]["parallelism_2"]
    query = Query(spark, tmp_path, Collector())
    query.add("in", device_rows([it["in"] for it in vector]))
    df = keyfold.with_operator_state(
        query.source("in", "device string, v double"),
        query.function,
        "subtask int, list array<double>",
        parallelism=2,
    )
    assert query.run(df) == sorted((it["subtask"], it["list"]) for it in vector)
    # After a restart each goes on with its own.
    query.add("in", device_rows([["device-1", 11.0]]))
    assert query.run(df) == [(0, [7.0, 9.0, 11.0])]


def test_rules_come_before_the_rows_of_their_batch(spark: SparkSession, tmp_path: Path) -> None:
    query = Query(spark, tmp_path, Rules())
    query.add("in", device_rows([["a", 1.0], ["b", 2.0], ["c", 3.0]]))
    query.add("rules", [{"id": "id-1", "rule": "rule-1"}])
    df = keyfold.with_operator_state(
        query.source("in", "device string, v double"),
        query.function,
        "subtask int, line string",
        parallelism=2,
        broadcast=query.source("rules", "id string, rule string"),
    )

    def lines(rows: Rows) -> list[tuple[int, list[Any]]]:
        return [(subtask, json.loads(line)) for subtask, line in rows]

    first = [["id-1 rule-1 0"], ["id-1 rule-1 1"]]
    assert lines(query.run(df)) == [
        (0, ["a", first[0], False, []]),
        (0, ["c", first[0], False, []]),
        (1, ["b", first[1], False, []]),
    ]
    # A batch with rules alone reaches each subtask, which hears of the batch before.
    query.add("rules", [{"id": "id-1", "rule": "rule-2"}, {"id": "id-0", "rule": "rule-0"}])
    assert query.run(df) == []
    query.add("in", device_rows([["d", 1.0], ["e", 2.0]]))
    assert lines(query.run(df)) == [
        (0, ["d", ["id-0 rule-0 0", "id-1 rule-2 0"], True, [0, 1]]),
        (1, ["e", ["id-0 rule-0 1", "id-1 rule-2 1"], True, [0, 1]]),
    ]


def test_a_row_goes_where_its_column_says(spark: SparkSession, tmp_path: Path) -> None:
    query = Query(spark, tmp_path, Collector())
    query.add("in", [{"shard": it % 4, "v": float(it)} for it in range(-4, 8)])
    df = keyfold.with_operator_state(
        query.source("in", "shard long, v double"),
        query.function,
        "subtask int, list array<double>",
        parallelism=3,
        route="shard",
    )
    last = dict(query.run(df))
    assert last == {
        0: [float(it) for it in range(-4, 8) if it % 4 % 3 == 0],
        1: [float(it) for it in range(-4, 8) if it % 4 == 1],
        2: [float(it) for it in range(-4, 8) if it % 4 == 2],
    }


def test_rows_of_several_tasks_arrive_in_the_order_of_each(
    spark: SparkSession, tmp_path: Path
) -> None:
    session = spark.newSession()
    # A task for each file, and several Arrow batches in each.
    session.conf.set("spark.sql.files.maxPartitionBytes", "600")
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "7")
    query = Query(session, tmp_path, Collector())
    files = [[float(100 * file + it) for it in range(30)] for file in range(3)]
    for values in files:
        query.add("in", [{"v": it} for it in values])
    df = keyfold.with_operator_state(
        query.source("in", "v double"),
        query.function,
        "subtask int, list array<double>",
        parallelism=1,
    )
    whole = max((seen for _, seen in query.run(df)), key=len)
    assert sorted(whole) == sorted(v for values in files for v in values)
    for file, values in enumerate(files):
        assert [v for v in whole if v // 100 == file] == values


def test_arguments_out_of_bounds_are_refused(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load()
    for bad in (
        {"parallelism": 0},
        {"parallelism": 129},
        {"parallelism": 3, "max_parallelism": 2},
        {"parallelism": 1, "max_parallelism": 32769},
        {"parallelism": 1, "name": "a b"},
        {"parallelism": 1, "route": "timestamp"},
        {"parallelism": 1, "route": "nothing"},
    ):
        with pytest.raises(InvalidArgumentError, match="Invalid"):
            keyfold.with_operator_state(stream, Counter(), "subtask int", **bad)
    with pytest.raises(InvalidArgumentError, match="streaming"):
        keyfold.with_operator_state(spark.range(1), Counter(), "subtask int", parallelism=1)


def test_an_unknown_redistribution_is_refused(spark: SparkSession) -> None:
    class Wrong(keyfold.OperatorFunction):
        def open(self, ctx: keyfold.OperatorContext) -> None:
            ctx.list_state("a", "v int", redistribute="shuffle")  # type: ignore[arg-type]

    with pytest.raises(InvalidArgumentError, match="redistribution 'shuffle'"):
        keyfold.with_operator_state(
            spark.readStream.format("rate").load(), Wrong(), "v int", parallelism=1
        )


def test_two_operators_of_one_name_are_refused(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load().selectExpr("cast(value as double) v")
    first = keyfold.with_operator_state(stream, Counter(), "v double", parallelism=1)
    keyfold.with_operator_state(first, Counter(), "v double", parallelism=1, name="other")
    with pytest.raises(OperatorNameError, match="'Counter'"):
        keyfold.with_operator_state(first, Counter(), "v double", parallelism=1)


def test_a_state_is_refused_after_its_call(spark: SparkSession) -> None:
    kept = []

    class Keeps(keyfold.OperatorFunction):
        def open(self, ctx: keyfold.OperatorContext) -> None:
            kept.extend([ctx.list_state("a", "v int"), ctx.broadcast_state("b", "k int", "v int")])
            kept[0].add(1)
            assert kept[0].get() == [(1,)]

    stream = spark.readStream.format("rate").load()
    keyfold.with_operator_state(stream, Keeps(), "v int", parallelism=1)
    for use in (kept[0].get, kept[0].clear, kept[1].items):
        with pytest.raises(StateOutsideCallError, match="operator 'Keeps'"):
            use()


@pytest.mark.parametrize("parallelism", [1, 3])
def test_another_parallelism_is_refused(
    spark: SparkSession, tmp_path: Path, parallelism: int
) -> None:
    query = Query(spark, tmp_path, Counter())

    def run(parallelism: int) -> Rows:
        query.add("in", device_rows([["a", 7.0]]))
        source = query.source("in", "device string, v double")
        return query.run(
            keyfold.with_operator_state(
                source, Counter(), "subtask int, count int", parallelism=parallelism
            )
        )

    assert run(2) == [(0, 1)]
    with pytest.raises(Exception, match="KEYFOLD_OPERATOR_PARALLELISM"):
        run(parallelism)
    # Nothing was lost: the batch runs with the old one.
    assert run(2) == [(0, 2), (0, 3)]


def test_other_states_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    class Other(Collector):
        def open(self, ctx: keyfold.OperatorContext) -> None:
            self.subtask = ctx.subtask
            self.seen = ctx.list_state("seen", "v double")

    query = Query(spark, tmp_path, Collector())

    def run(function: keyfold.OperatorFunction) -> Rows:
        query.add("in", device_rows([["a", 7.0]]))
        source = query.source("in", "device string, v double")
        schema = "subtask int, list array<double>"
        return query.run(
            keyfold.with_operator_state(source, function, schema, parallelism=1, name="op")
        )

    assert run(Collector()) == [(0, [7.0])]
    with pytest.raises(Exception, match="KEYFOLD_OPERATOR_STATE_CHANGED"):
        run(Other())
