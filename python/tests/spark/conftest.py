"""A real Spark, for every module of this folder one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from kit.session import session

# Snapshots are written, and old files removed, while a test goes on.
BUSY = {
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "2",
    "spark.sql.streaming.stateStore.maintenanceInterval": "200ms",
}


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with session(tmp_path_factory.mktemp("spark"), BUSY) as made:
        yield made
