"""A real Spark, for every module of this folder one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from kit.session import JAR, session


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session whose queries keep their state in Keyfold."""
    if not JAR.is_file():
        pytest.skip(f"{JAR.name} is not built; run `make jar`")
    with session(tmp_path_factory.mktemp("spark"), {}) as made:
        yield made
