"""A Spark with Keyfold, and streaming queries that end by themselves."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import keyfold
from keyfold.settings import JAR_NAME

JAR = Path(keyfold.__file__).parent / "jars" / JAR_NAME
NEEDS_JAR = [
    pytest.mark.spark,
    pytest.mark.skipif(not JAR.is_file(), reason=f"{JAR_NAME} is not built; run `make jar`"),
    # PySpark says so of pandas 3, and of Arrow tables that hold timestamps.
    pytest.mark.filterwarnings("ignore"),
]


@contextmanager
def session(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SparkSession]:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.streaming.stateStore.minDeltasForSnapshot", "2")
        .config("spark.sql.streaming.stateStore.maintenanceInterval", "200ms")
        .config("spark.sql.warehouse.dir", str(root / "warehouse"))
    )
    made = keyfold.configure(builder).getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


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
