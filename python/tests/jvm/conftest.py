"""A real Spark, for every module of this folder one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import keyfold
from keyfold.settings import JAR_NAME

JAR = Path(keyfold.__file__).parent / "jars" / JAR_NAME


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session whose queries keep their state in Keyfold."""
    if not JAR.is_file():
        pytest.skip(f"{JAR_NAME} is not built; run `make jar`")
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
    )
    session = keyfold.configure(builder).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
