"""A sink in two phases: files appear once the batch that wrote them is committed, each row once.

    python examples/two_phase_sink.py FOLDER

copies the rows of FOLDER/readings (files of JSON lines: device, v) to files in FOLDER/out. A
subtask writes a batch's rows to a hidden file and remembers its name; when it is told that the
batch is committed, at its next batch, it gives the file its visible name. If a task or the driver
dies in between, this happens after the restart. A batch that runs again writes a new hidden file;
the first one is never shown, and may be deleted once it is older than any batch takes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa

import keyfold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class TwoPhaseSink(keyfold.OperatorFunction):
    """Yields the name of each file that it has written.

    Args:
        folder: where the files go; each worker must see it.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def open(self, ctx: keyfold.OperatorContext) -> None:
        # At a change of parallelism each name goes to one of the new subtasks.
        self.pending = ctx.list_state("pending", "name string", redistribute="split")

    def notify_committed(self, batch_id: int) -> None:  # noqa: ARG002 - all that is pending
        for (name,) in self.pending.get():
            hidden = Path(self.folder, f".{name}")
            # It has its name already if this batch runs again.
            if hidden.exists():
                hidden.rename(Path(self.folder, name))
        self.pending.clear()

    def process(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        lines = [json.dumps(row) for batch in batches for row in batch.to_pylist()]
        if lines:
            name = f"{uuid4()}.json"
            with Path(self.folder, f".{name}").open("w", encoding="utf-8") as file:
                file.write("\n".join(lines))
                file.flush()
                os.fsync(file.fileno())
            self.pending.add(name)
            yield pa.table({"name": [name]})


def copied(spark: SparkSession, folder: str, parallelism: int = 2) -> DataFrame:
    """The names of the files that were written, as a stream."""
    out = Path(folder, "out")
    out.mkdir(exist_ok=True)
    readings = spark.readStream.schema("device string, v double").json(f"{folder}/readings")
    return keyfold.with_operator_state(
        readings, TwoPhaseSink(str(out)), "name string", parallelism=parallelism
    )


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    [place] = sys.argv[1:]
    session = keyfold.configure(SparkSession.builder).getOrCreate()
    writer = copied(session, place).writeStream.format("noop")
    writer.option("checkpointLocation", f"{place}/checkpoint").start().awaitTermination()
