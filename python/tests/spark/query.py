"""A streaming query that ends by itself, and goes on where it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession


class Query:
    """A query over Parquet files, a batch each time that `run` is called."""

    def __init__(
        self, spark: SparkSession, root: Path, schema: str,
        build: Callable[[DataFrame], DataFrame], mode: str = "update", **conf: str,
    ) -> None:  # fmt: skip
        self.spark = spark.newSession()
        for key, value in conf.items():
            self.spark.conf.set(f"spark.sql.streaming.{key.replace('__', '.')}", value)
        self.root = root
        self.schema = schema
        self.build = build
        self.mode = mode
        self.checkpoint = root / "cp"
        self.once = False

    def run(self, rows: list[Any]) -> Path:
        source = str(self.root / "in")
        frame = self.spark.createDataFrame(rows, self.schema)
        frame.coalesce(1).write.mode("append").parquet(source)
        stream = self.build(self.spark.readStream.schema(frame.schema).parquet(source))
        writer = stream.writeStream.outputMode(self.mode).format("noop")
        # With times of its own a query finds something to do for ever, however little there is.
        trigger: Any = {"once": True} if self.once else {"availableNow": True}
        writer = writer.option("checkpointLocation", str(self.checkpoint)).trigger(**trigger)
        assert writer.start().awaitTermination(60)
        return self.checkpoint
