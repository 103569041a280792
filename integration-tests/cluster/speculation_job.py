"""Counts per key that remember which attempts wrote them, in tasks that are held for their twin.

Usage: speculation_job.py INPUT CHECKPOINT OUTPUT MEETINGS [PARALLELISM]

With PARALLELISM, so many subtasks of an operator have the counts, each those of its keys. Batch n
writes to OUTPUT/<n>. One partition of each batch is held as `speculation_plan` says; its attempts
leave a file in MEETINGS, named by batch and number of the attempt, once they have committed.
"""

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.state import GroupState

import keyfold
from cluster.speculation_plan import ORIGINAL_FIRST, ORIGINAL_UNCOMMITTED, planned

TIMEOUT_S = 120
STATE = "rows long, total long, partitions string, attempts string"
OUTPUT = f"key long, {STATE}"
NAMES = ["key", "rows", "total", "partitions", "attempts"]

Batches = Iterator[pa.RecordBatch]
Count = tuple[int, int, str, str]
NEW: Count = (0, 0, "", "")

source, checkpoint, output, meetings, *parallelism = sys.argv[1:]
# Never there: Spark kills the attempt that waits for it, once the other one has ended.
KILL = Path(meetings, "the kill")
spark = SparkSession.builder.getOrCreate()


def task() -> TaskContext:
    context = TaskContext.get()
    if context is None:
        raise RuntimeError("Only tasks ask for it")
    return context


def wait_for(path: Path) -> None:
    """Returns once there is such a file."""
    deadline = time.monotonic() + TIMEOUT_S
    while not path.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{path} has not come in {TIMEOUT_S} s")
        time.sleep(0.005)


def after(count: Count, values: list[int]) -> Count:
    """The count of a key, and which attempts made it: twins' state is not the same."""
    rows, total, partitions, attempts = count
    partition, attempt = task().partitionId(), task().attemptNumber()
    # Each batch has all keys, so this is number len(attempts).
    if planned(len(attempts)) == (ORIGINAL_UNCOMMITTED, partition) and attempt == 0:
        wait_for(KILL)
    return (
        rows + len(values),
        total + sum(values),
        partitions + str(partition),
        attempts + str(attempt),
    )


def count(
    key: tuple[int], frames: Iterator[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    values = [value for frame in frames for value in frame["value"].tolist()]
    state.update(after(state.get if state.exists else NEW, values))
    yield pd.DataFrame([[*key, *state.get]], columns=NAMES)


class Counts(keyfold.OperatorFunction):
    """Counts the keys that come to a subtask."""

    def open(self, ctx: keyfold.OperatorContext) -> None:
        self.counts = ctx.list_state("counts", OUTPUT, redistribute="union")

    def process(self, batches: Batches) -> Iterator[pd.DataFrame]:
        values = defaultdict(list)
        for batch in batches:
            for row in batch.to_pylist():
                values[row["key"]].append(row["value"])
        before = {key: count for key, *count in self.counts.get()}
        # Those of other subtasks, which it may have after a change of parallelism, go.
        self.counts.update((key, *after(before.get(key, NEW), values[key])) for key in values)
        yield pd.DataFrame(self.counts.get(), columns=NAMES)


def counted(rows: DataFrame) -> DataFrame:
    if parallelism:
        return keyfold.with_operator_state(
            rows, Counts(), OUTPUT, parallelism=int(parallelism[0]), route="key"
        )
    return rows.groupBy("key").applyInPandasWithState(count, OUTPUT, STATE, "update", "NoTimeout")


def held(batch: int) -> Callable[[Batches], Batches]:
    """Passes a task's rows on. They end when its state has been committed."""
    kind, partition = planned(batch)
    winner = 0 if kind == ORIGINAL_FIRST else 1
    both_commit = kind != ORIGINAL_UNCOMMITTED

    def run(rows: Batches) -> Batches:
        yield from rows
        if task().partitionId() == partition:
            attempt = task().attemptNumber()
            Path(meetings, f"{batch}-{attempt}").touch()
            if attempt != winner:
                wait_for(KILL)
            elif both_commit:
                wait_for(Path(meetings, f"{batch}-{1 - attempt}"))

    return run


def write(batch: DataFrame, number: int) -> None:
    rows = batch.mapInArrow(held(number), batch.schema)
    rows.write.mode("overwrite").json(f"{output}/{number}")


rows = spark.readStream.schema("key long, value long").option("maxFilesPerTrigger", 1).json(source)
query = (
    counted(rows)
    .writeStream.outputMode("update")
    .foreachBatch(write)
    .option("checkpointLocation", checkpoint)
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
