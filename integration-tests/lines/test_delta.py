"""A driver that dies after Delta's commit of a batch and before the query's, on Spark 4.1."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from keyfold.settings import EXTENSIONS_CLASS
from kit.connectors import DELTA, DELTA_SETTINGS, DOWNLOAD_S, EXTENSIONS, connectors
from kit.installation import installation_of
from kit.killed_sink import HALTING, HALTS_BEFORE, KILLS, KilledSink
from kit.lines import EVERY_LINE
from kit.submit import Conf, Spark

LINE = "4.1"


@pytest.fixture(scope="module")
def jars() -> str:
    return connectors(LINE, DELTA)


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Spark]:
    with closing(Spark(tmp_path, "local[2]", installation_of(LINE))) as spark:
        yield spark


def with_delta(jars: str) -> Conf:
    return {
        "spark.driver.extraClassPath": jars,
        "spark.sql.extensions": f"{EXTENSIONS[DELTA]},{EXTENSIONS_CLASS}",
        **DELTA_SETTINGS,
    }


@pytest.mark.long
@pytest.mark.timeout(DOWNLOAD_S + 300)
def test_each_row_once_after_a_kill_between_the_two_commits(
    local: Spark, tmp_path: Path, jars: str
) -> None:
    conf = with_delta(jars)
    classes = f"{jars}:{HALTING['spark.driver.extraClassPath']}"
    sink = KilledSink(tmp_path, "delta")
    for batch in (0, 2):
        sink.add(2)
        halting = {**conf, **HALTING, "spark.driver.extraClassPath": classes, HALTS_BEFORE: batch}
        halted = local.start(*sink.job, conf=halting)
        assert halted.wait() != 0
        assert (sink.batches, sink.committed) == (batch, batch - 1), halted.end_of_log
    sink.add(1)
    local.run(*sink.job, conf=conf)
    assert sink.rows() == sink.expected()


@pytest.mark.long
@pytest.mark.skipif(not EVERY_LINE, reason="with KEYFOLD_EVERY_LINE: CI has 90 minutes")
@pytest.mark.timeout(DOWNLOAD_S + 300 + 60 * KILLS)
def test_each_row_once_after_kills_at_random(local: Spark, tmp_path: Path, jars: str) -> None:
    sink = KilledSink(tmp_path, "delta")
    between = sink.kill_at_random(local, with_delta(jars))
    sink.add(1)
    local.run(*sink.job, conf=with_delta(jars))
    assert sink.rows() == sink.expected()
    assert between > 0 or KILLS < 20
