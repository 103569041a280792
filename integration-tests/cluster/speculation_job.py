"""Counts per key that remember which attempts wrote them, in tasks that are held for their twin.

Usage: speculation_job.py INPUT CHECKPOINT OUTPUT MEETINGS

Batch n writes to OUTPUT/<n>. One partition of each batch is held as `speculation_plan` says; its
attempts leave a file in MEETINGS, named by batch and number of the attempt, once they have
committed.
"""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.state import GroupState

from cluster.speculation_plan import ORIGINAL_FIRST, ORIGINAL_UNCOMMITTED, planned

TIMEOUT_S = 120
STATE = "rows long, total long, attempts string"

Batches = Iterator[pa.RecordBatch]

source, checkpoint, output, meetings = sys.argv[1:]
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


def count(
    key: tuple[int], frames: Iterator[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    """Adds to the count of a key, and notes the attempt that does: twins' state is not the same."""
    rows, total, attempts = state.get if state.exists else (0, 0, "")
    partition, attempt = task().partitionId(), task().attemptNumber()
    # Each batch has all keys, so this is number len(attempts).
    if planned(len(attempts)) == (ORIGINAL_UNCOMMITTED, partition) and attempt == 0:
        wait_for(KILL)
    for frame in frames:
        rows += len(frame)
        total += int(frame["value"].sum())
    attempts += str(attempt)
    state.update((rows, total, attempts))
    names = ["key", "partition", "rows", "total", "attempts"]
    yield pd.DataFrame([[*key, partition, rows, total, attempts]], columns=names)


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


query = (
    spark.readStream.schema("key long, value long")
    .option("maxFilesPerTrigger", 1)
    .json(source)
    .groupBy("key")
    .applyInPandasWithState(
        count, f"key long, partition int, {STATE}", STATE, "update", "NoTimeout"
    )
    .writeStream.outputMode("update")
    .foreachBatch(write)
    .option("checkpointLocation", checkpoint)
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
