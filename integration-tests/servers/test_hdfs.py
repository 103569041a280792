"""The HDFS that tests start: what it tells, and that it goes on when its parts are stopped."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kit.servers.hdfs import Hdfs, HdfsFolder


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    with closing(Hdfs(tmp_path_factory.mktemp("hdfs") / "data")) as hdfs:
        yield hdfs


def test_calls_of_the_name_node_are_counted_by_method(hdfs: Hdfs) -> None:
    before = hdfs.calls()
    root = HdfsFolder(hdfs, "")
    assert list((root / "none").iterdir()) == []
    assert not (root / "none").exists()
    # The name node may answer a call before it counts it.
    end = time.monotonic() + 30
    while (made := hdfs.calls() - before)["GetFileInfo"] < 1 and time.monotonic() < end:
        time.sleep(0.1)
    assert made["GetListing"] == 1
    assert made["GetFileInfo"] == 1


def test_a_wrong_command_is_an_error_and_the_next_one_is_obeyed(hdfs: Hdfs, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="FileNotFoundException"):
        hdfs.copy("/none", tmp_path / "none")
    assert not hdfs.exists("/none")


def test_nodes_come_back(hdfs: Hdfs) -> None:
    hdfs.stop_data_node(1)
    hdfs.start_data_node(1)
    hdfs.restart_name_node()
    assert hdfs.names("/") == []
    assert hdfs.calls()["GetListing"] == 1
