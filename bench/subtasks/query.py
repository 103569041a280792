"""The same rows through a function of pandas without state and through operators with state."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from uuid import uuid4

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, SparkSession

import keyfold
from keyfold.settings import FORMAT_KEY, FORMAT_VERSION, PROVIDER_CLASS, PROVIDER_KEY

SCHEMA = "timestamp timestamp, value bigint"
# After them Python's workers and the JVM's code are warm.
WARM_UP = 4
MEASURED = 8


class Passes(keyfold.OperatorFunction):
    """Has state, and does not update it."""

    def open(self, ctx: keyfold.OperatorContext) -> None:
        """Take a list."""
        self.kept = ctx.list_state("kept", "value bigint")

    def process(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        yield from batches


class Appends(Passes):
    """Appends an element for each row."""

    def process(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows, and keep their values."""
        for batch in batches:
            self.kept.add_all([(it,) for it in batch.column("value").to_pylist()])
            yield batch


def without_state(rows: DataFrame, subtasks: int) -> DataFrame:
    """Pass the rows through pandas, after the same shuffle."""

    def passed(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        yield from frames

    return rows.repartition(subtasks).mapInPandas(passed, SCHEMA)


def with_state(function: keyfold.OperatorFunction) -> Callable[[DataFrame, int], DataFrame]:
    """Pass the rows through an operator."""

    def passed(rows: DataFrame, subtasks: int) -> DataFrame:
        return keyfold.with_operator_state(rows, function, SCHEMA, parallelism=subtasks)

    return passed


@dataclass(frozen=True)
class Case:
    """What the rows go through."""

    text: str
    through: Callable[[DataFrame, int], DataFrame]


CASES = (
    Case("`mapInPandas`, no state", without_state),
    Case("an operator that updates nothing", with_state(Passes())),
    Case("an operator that appends a row for each", with_state(Appends())),
)


@dataclass(frozen=True)
class Shape:
    """Rows of a batch, and how many subtasks take them."""

    rows: int
    subtasks: int


def seconds(spark: SparkSession, case: Case, provider: str, shape: Shape, folder: Path) -> float:
    """Run batches; the median time of one."""
    session = spark.newSession()
    session.conf.set(PROVIDER_KEY, provider)
    session.conf.set(FORMAT_KEY, FORMAT_VERSION if provider == PROVIDER_CLASS else "1")
    session.conf.set("spark.sql.shuffle.partitions", shape.subtasks)
    session.conf.set("spark.sql.streaming.numRecentProgressUpdates", "1000")
    source = session.readStream.format("rate-micro-batch").option("rowsPerBatch", shape.rows)
    # No source splits them, so that all cases read with as many tasks.
    stream = source.option("numPartitions", shape.subtasks).load()
    writer = case.through(stream, shape.subtasks).writeStream.format("noop").outputMode("append")
    query = writer.option("checkpointLocation", str(folder / str(uuid4()))).start()
    try:
        while len(query.recentProgress) < WARM_UP + MEASURED:
            if not query.isActive:
                query.awaitTermination()
            query.awaitTermination(1)
        batches = [it.batchDuration for it in query.recentProgress if it.numInputRows == shape.rows]
    finally:
        query.stop()
    return median(batches[WARM_UP : WARM_UP + MEASURED]) / 1000
