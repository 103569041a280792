"""Drivers that are killed between the sink's commit of a batch and the query's."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kit.killed_sink import HALTING, HALTS_BEFORE, KilledSink
from kit.submit import Spark


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Spark]:
    """Starts applications in a JVM of their own each."""
    with closing(Spark(tmp_path, "local[2]")) as spark:
        yield spark


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", ["files", "function"])
def test_each_row_once_after_a_kill_between_the_two_commits_fault_4(
    local: Spark, tmp_path: Path, kind: str
) -> None:
    sink = KilledSink(tmp_path, kind)
    for batch in (0, 2):
        sink.add(2)
        halted = local.start(*sink.job, conf={**HALTING, HALTS_BEFORE: batch})
        assert halted.wait() != 0
        assert (sink.batches, sink.committed) == (batch, batch - 1), halted.end_of_log
    # As a supervisor does: nothing but to start it again.
    sink.add(1)
    local.run(*sink.job)
    assert sink.rows() == sink.expected()
