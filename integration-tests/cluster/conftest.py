"""What every test on a cluster starts with."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kit.submit import Spark


@pytest.fixture
def spark(tmp_path: Path) -> Iterator[Spark]:
    """Starts applications on a local cluster of two executors."""
    with closing(Spark(tmp_path)) as spark:
        yield spark
