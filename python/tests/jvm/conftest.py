"""A real Spark, for every module of this folder one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from kit.session import NO_JAR, session


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session whose queries keep their state in Keyfold."""
    if NO_JAR:
        pytest.skip(NO_JAR)
    with session(tmp_path_factory.mktemp("spark"), {}) as made:
        yield made
