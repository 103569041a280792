"""A partitioned log that the subtasks of an operator read; their offsets are operator state.

Usage: partitioned_log_job.py FOLDER PARALLELISM PARTITIONS RECORDS

FOLDER/log has a file of 64-bit numbers for each partition. Each file in FOLDER/ticks is a batch, in
which a subtask reads up to RECORDS from each of its partitions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import keyfold


class LogReader(keyfold.OperatorFunction):
    """Reads partition i of a log in subtask `i % parallelism`."""

    def __init__(self, folder: Path, partitions: int, records: int) -> None:
        self.folder, self.partitions, self.records = folder, partitions, records

    def open(self, ctx: keyfold.OperatorContext) -> None:
        if ctx.parallelism > self.partitions:
            raise ValueError(
                f"The log {self.folder} has {self.partitions} partitions, and {ctx.parallelism} "
                "subtasks would leave some without: start with a smaller parallelism."
            )
        # After a change of parallelism, every subtask has all offsets, and keeps its own.
        self.offsets = ctx.list_state("offsets", "partition int, offset long", redistribute="union")
        self.own = dict.fromkeys(range(ctx.subtask, self.partitions, ctx.parallelism), 0)
        self.own |= {it: offset for it, offset in self.offsets.get() if it in self.own}

    def process(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:  # noqa: ARG002
        for partition, offset in self.own.items():
            file = self.folder / f"{partition}.log"
            read = np.fromfile(file, np.int64, self.records, offset=8 * offset)
            self.own[partition] += len(read)
            yield pa.table({"record": read})
        self.offsets.update(self.own.items())


folder = sys.argv[1]
parallelism, partitions, records = map(int, sys.argv[2:])
spark = SparkSession.builder.getOrCreate()


def write(batch: DataFrame, number: int) -> None:
    batch.write.mode("overwrite").parquet(f"{folder}/out/{number}")


ticks = spark.readStream.schema("tick int").option("maxFilesPerTrigger", 1).json(f"{folder}/ticks")
query = (
    keyfold.with_operator_state(
        ticks,
        LogReader(Path(folder, "log"), partitions, records),
        "record long",
        parallelism=parallelism,
    )
    .writeStream.foreachBatch(write)
    .option("checkpointLocation", f"{folder}/checkpoint")
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
