"""Three operators with state of their subtasks in one query, as Flink's walk-throughs have them.

Usage: operator_state_job.py FOLDER COUNTERS COLLECTORS BINDERS

FOLDER has the inputs counted, collected, bound and rules. The numbers are parallelisms. Each batch
writes its rows to FOLDER/out, and then waits while FOLDER/hold exists.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

import keyfold

OUTPUT = "subtask int, line string"
HIGH = 6.0


class HighValueCounter(keyfold.OperatorFunction):
    """Counts high values."""

    def open(self, ctx: keyfold.OperatorContext) -> None:
        self.subtask = ctx.subtask
        self.counts = ctx.list_state("counts", "count int")

    def process(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        count = sum(it for (it,) in self.counts.get())
        for v in values(batches):
            count += v > HIGH
            yield row(self.subtask, count)
        self.counts.update([(count,)])


class DeviceCollector(keyfold.OperatorFunction):
    """Keeps all values that it has seen."""

    def open(self, ctx: keyfold.OperatorContext) -> None:
        self.subtask = ctx.subtask
        self.seen = ctx.list_state("seen", "v double", redistribute="union")

    def process(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        for v in values(batches):
            self.seen.add(v)
            yield row(self.subtask, [it for (it,) in self.seen.get()])


class RuleBinding(keyfold.OperatorFunction):
    """Keeps rules, each with the subtask that it came to."""

    def open(self, ctx: keyfold.OperatorContext) -> None:
        self.subtask = ctx.subtask
        self.rules = ctx.broadcast_state("rules", "id string", "rule string, subtask int")

    def process_broadcast(self, batches: Iterator[pa.RecordBatch]) -> None:
        for batch in batches:
            for it in batch.to_pylist():
                self.rules.put((it["id"],), (it["rule"], self.subtask))

    def process(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        for _ in values(batches):
            yield row(self.subtask, sorted([*key, *value] for key, value in self.rules.items()))


def values(batches: Iterator[pa.RecordBatch]) -> Iterator[float]:
    for batch in batches:
        yield from batch.column("v").to_pylist()


def row(subtask: int, said: object) -> pa.Table:
    return pa.table({"subtask": [subtask], "line": [json.dumps(said)]})


folder, *numbers = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()


def source(name: str, schema: str = "device string, v double") -> DataFrame:
    return spark.readStream.schema(schema).json(f"{folder}/{name}")


def operator(
    name: str, function: keyfold.OperatorFunction, number: str, broadcast: DataFrame | None = None
) -> DataFrame:
    out = keyfold.with_operator_state(
        source(name), function, OUTPUT, parallelism=int(number), broadcast=broadcast
    )
    return out.select(f.lit(name).alias("operator"), "subtask", "line")


def write(batch: DataFrame, number: int) -> None:
    batch.write.mode("overwrite").json(f"{folder}/out/{number}")
    while Path(folder, "hold").exists():
        time.sleep(0.1)


rules = source("rules", "id string, rule string")
query = (
    operator("counted", HighValueCounter(), numbers[0])
    .union(operator("collected", DeviceCollector(), numbers[1]))
    .union(operator("bound", RuleBinding(), numbers[2], rules))
    .writeStream.foreachBatch(write)
    .option("checkpointLocation", f"{folder}/checkpoint")
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
