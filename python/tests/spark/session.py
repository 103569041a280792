"""A Spark with Keyfold, and streaming queries that end by themselves."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import keyfold
from keyfold.settings import JAR_NAME
from programs import JVM_OPTIONS

JAR = Path(keyfold.__file__).parent / "jars" / JAR_NAME
NEEDS_JAR = [
    pytest.mark.spark,
    pytest.mark.skipif(not JAR.is_file(), reason=f"{JAR_NAME} is not built; run `make jar`"),
    # PySpark says so of pandas 3, and of Arrow tables that hold timestamps.
    pytest.mark.filterwarnings("ignore"),
]

# Of a process that starts a Spark.
ENVIRONMENT = {
    "PYSPARK_PYTHON": sys.executable,
    "PYSPARK_SUBMIT_ARGS": shlex.join(["--driver-java-options", JVM_OPTIONS, "pyspark-shell"]),
}
# Snapshots are written, and old files removed, while a test goes on.
BUSY = {
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "2",
    "spark.sql.streaming.stateStore.maintenanceInterval": "200ms",
}


@contextmanager
def session(root: Path, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(root / "warehouse"))
        .config(map=dict(settings))
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
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
