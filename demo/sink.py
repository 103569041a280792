"""Where the queries write: folders of Parquet files, or tables of Delta."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark user knows
from pyspark.sql.streaming.readwriter import DataStreamWriter

from demo.workspace import FILES, Workspace

DELTA: Final = "delta"
SINKS: Final = (FILES, DELTA)

APPEND, UPDATE, COMPLETE = "append", "update", "complete"


@dataclass(frozen=True)
class Sink:
    """One of `SINKS`, for the results of a workspace."""

    kind: str
    workspace: Workspace

    def write(self, query: str, answer: DataFrame, mode: str) -> DataStreamWriter:
        """Write a query's answer in an output mode."""
        result = self.workspace.result(query)
        stream = answer.writeStream.outputMode(mode)
        if self.kind == FILES:
            return stream.foreachBatch(lambda batch, number: _overwrite(batch, number, result))
        if mode == UPDATE:
            # Delta's own sink has no such mode.
            return stream.foreachBatch(lambda batch, number: _append_once(batch, number, result))
        return stream.format(DELTA).option("path", str(result))

    def read(self, query: str, spark: SparkSession, mode: str) -> DataFrame:
        """Read what was written; of what was written anew in every batch, the last."""
        result = str(self.workspace.result(query))
        if self.kind == DELTA:
            return spark.read.format(DELTA).load(result)
        rows = spark.read.parquet(result)
        if mode == COMPLETE:
            last = rows.agg(F.max("batch")).collect()[0][0]
            rows = rows.where(F.col("batch") == last)
        return rows.drop("batch")


def _overwrite(batch: DataFrame, number: int, result: Path) -> None:
    """Write a batch to a folder; one that is run again overwrites what it wrote before.

    Not the file sink: Spark 4.2 cannot restart a query with checkpoint format 2 whose file sink
    has seen a batch that the commit log has not (it skips the batch and misses its state).
    """
    batch.write.mode("overwrite").parquet(str(result / f"batch={number}"))


def _append_once(batch: DataFrame, number: int, result: Path) -> None:
    """Append a batch to a table; one that is run again leaves it as it is."""
    once = batch.write.format(DELTA).mode("append").option("txnAppId", result.name)
    once.option("txnVersion", number).save(str(result))
