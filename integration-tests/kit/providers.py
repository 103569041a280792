"""Spark's own providers of state, and sessions whose queries use a provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keyfold.settings import FORMAT_KEY, PROVIDER_KEY

if TYPE_CHECKING:  # the reader's tests, which name providers too, have no PySpark
    from pyspark.sql import SparkSession

_STATE = "org.apache.spark.sql.execution.streaming.state"
HDFS = f"{_STATE}.HDFSBackedStateStoreProvider"
ROCKSDB = f"{_STATE}.RocksDBStateStoreProvider"


def session_of(spark: SparkSession, provider: str, checkpoint_format: int) -> SparkSession:
    """A new session of the same application."""
    session = spark.newSession()
    session.conf.set(PROVIDER_KEY, provider)
    session.conf.set(FORMAT_KEY, str(checkpoint_format))
    return session
