"""Spark sessions of the demo, small enough for two cores."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

import keyfold
from demo.stages import STAGES
from keyfold.settings import PROVIDER_CLASS, PROVIDER_KEY

KEYFOLD: Final = "keyfold"
HDFS: Final = "hdfs"
PROVIDERS: Final = {
    KEYFOLD: PROVIDER_CLASS,
    HDFS: "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    "rocksdb": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
}
STATE_STORE = "spark.sql.streaming.stateStore"

Settings = dict[str, bool | float | int | str | None]

BASE: Settings = {
    "spark.driver.memory": "2g",
    # A JVM that lives for a minute on two cores loses more by optimising hard than it wins. The
    # room for code that comes with it is too small: once full, everything else is interpreted.
    "spark.driver.extraJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
    ),
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": STAGES[0].partitions,
    "spark.sql.session.timeZone": "UTC",
}

# Spark's defaults suit queries that run for months; with these, snapshots are written and old files
# deleted within the minutes the demo takes.
SHORT_LIVED: Settings = {
    f"{STATE_STORE}.maintenanceInterval": "5s",
    f"{STATE_STORE}.minDeltasForSnapshot": "5",
    "spark.sql.streaming.minBatchesToRetain": "10",
}


def _builder(scratch: Path, conf: Mapping[str, str]) -> SparkSession.Builder:
    """Begin a session that keeps its temporary files in `scratch`."""
    return (
        SparkSession.builder.master("local[2]")
        .appName("keyfold-demo")
        .config(map=BASE)
        .config("spark.local.dir", str(scratch))
        .config(map=dict(conf))
    )


def batch_session(scratch: Path, conf: Mapping[str, str]) -> SparkSession:
    """Start a session that knows nothing of state stores, with some settings besides."""
    return _builder(scratch, conf).getOrCreate()


def streaming_session(provider: str, scratch: Path, conf: Mapping[str, str]) -> SparkSession:
    """Start a session whose queries keep their state in the store named by `provider`.

    `conf` is what it needs to reach their checkpoints, input and results.
    """
    builder = _builder(scratch, conf).config(map=SHORT_LIVED)
    if provider == KEYFOLD:
        return keyfold.configure(builder).getOrCreate()
    return builder.config(PROVIDER_KEY, PROVIDERS[provider]).getOrCreate()
