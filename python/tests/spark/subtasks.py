"""Operators with state of their subtasks, and a query that runs one over files."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import keyfold
from kit.subtask_states import Keeps, State, state_of

# Workers do not have the tests' modules.
register_pickle_by_value(sys.modules[__name__])

VECTORS = json.loads(
    (
        Path(__file__).parents[3] / "integration-tests/cluster/vectors/operator_state.json"
    ).read_text()
)
Rows = list[tuple[Any, ...]]

_BUSY = "Python worker failed to connect back"
_STARTS = 5


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
        self.checkpoint = root / "checkpoint"
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
        """The output of the next batch, sorted.

        Again if a worker of Spark's has not started in its ten seconds, as on a busy machine: a
        start that fails leaves no trace.
        """
        for left in reversed(range(_STARTS)):
            try:
                return self._run(df)
            except StreamingQueryException as error:
                if left == 0 or _BUSY not in str(error):
                    raise
        raise AssertionError

    def _run(self, df: DataFrame) -> Rows:
        found: Rows = []
        query = (
            df.writeStream.foreachBatch(lambda it, _: found.extend(map(tuple, it.collect())))
            .option("checkpointLocation", str(self.checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return sorted(found)


class Kept(Query):
    """A query of `Keeps`, or of another form of it."""

    def df(self, parallelism: int, function: keyfold.OperatorFunction | None = None) -> DataFrame:
        source = self.source("in", "v int")
        return keyfold.with_operator_state(
            source, function or self.function, "v int", parallelism=parallelism, name="op"
        )

    def start(self, parallelism: int, values: Iterable[int]) -> None:
        self.add("in", [{"v": v} for v in values])
        self.run(self.df(parallelism))

    def state(self) -> State:
        return state_of(self.checkpoint, "op")


def begun(spark: SparkSession, root: Path) -> Kept:
    """Two subtasks have run two batches."""
    query = Kept(spark, root, Keeps())
    query.start(2, range(7))
    query.start(2, range(7, 13))
    return query


def is_whole(query: Query) -> bool:
    return keyfold.open_checkpoint(query.checkpoint).fsck(deep=True).findings == ()


def device_rows(records: list[Any]) -> list[dict[str, Any]]:
    return [{"device": device, "v": v} for device, v in records]
