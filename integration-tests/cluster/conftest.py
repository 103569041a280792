"""What every test on a cluster starts with."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kit.checkpoint_place import LOCAL, CheckpointPlace, checkpoint_place
from kit.submit import Spark


@pytest.fixture
def spark(tmp_path: Path) -> Iterator[Spark]:
    """Starts applications on a local cluster of two executors."""
    with closing(Spark(tmp_path)) as spark:
        yield spark


@pytest.fixture
def checkpoint(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CheckpointPlace]:
    """Where the query of a test has its checkpoint: on a local disk, if the test names no kind."""
    with checkpoint_place(getattr(request, "param", LOCAL), tmp_path) as place:
        yield place
