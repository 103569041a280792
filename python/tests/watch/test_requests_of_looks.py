"""What a look asks an object store for."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyfold.storage.storage import Storage
from keyfold.watch.watcher import Watcher
from kit.counted_requests import Requests
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter

PARTITIONS = 30


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Requests:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    return Requests(monkeypatch, tmp_path)


@pytest.fixture
def writer(tmp_path: Path) -> StateWriter:
    made = StateWriter(FakeCheckpoint(tmp_path / "cp"), partitions=PARTITIONS, sparse=True)
    for number in range(12):
        made.batch(dict.fromkeys(range(100), number))
    return made


@pytest.fixture
def watcher(requests: Requests, writer: StateWriter) -> Watcher:
    """After its first look."""
    made = Watcher(Storage("s3://bucket/cp"))
    made.look()
    found = requests.counts()
    # Ten batches: their entries; the files of the last one and of those before it, 256 at most.
    assert found["get"] <= 2 * 10 + 3 + PARTITIONS + 256
    assert found["list"] + found["list_with_delimiter"] <= 5
    assert writer.batch_number == 11
    return made


def test_without_a_new_batch_two_lists(requests: Requests, watcher: Watcher) -> None:
    for _ in range(3):
        watcher.look()
        assert requests.counts() == {"list_with_delimiter": 2}


def test_a_batch_that_has_begun_is_read_once(
    requests: Requests, watcher: Watcher, writer: StateWriter
) -> None:
    writer.fake.start(12)
    assert watcher.look().begun == 12
    assert requests.counts() == {"list_with_delimiter": 2, "get": 1}
    watcher.look()
    assert requests.counts() == {"list_with_delimiter": 2}


def test_of_a_new_batch_its_files_alone(
    requests: Requests, watcher: Watcher, writer: StateWriter
) -> None:
    writer.batch({1: 100, 2: 200})
    assert watcher.look().batches[-1].changes == 2
    found = requests.counts()
    # The query's id, the operator's description, the batch's two entries and the oldest one of the
    # offset log, to know of a migration; two deltas.
    assert found["get"] == 5 + 2
    # Commits, offsets, operators, and the files of the operator in two parts.
    assert (found["list_with_delimiter"], found["list"]) == (3, 2)
    assert found["head"] == found["get_range"] == 0


def test_more_batches_cost_their_entries_and_files(
    requests: Requests, watcher: Watcher, writer: StateWriter
) -> None:
    for number in range(4):
        writer.batch({1: number, 2: number})
    assert [it.changes for it in watcher.look().batches[-4:]] == [2] * 4
    found = requests.counts()
    assert found["get"] == 3 + 4 * (2 + 2)
    assert (found["list_with_delimiter"], found["list"]) == (3, 2)


def test_a_query_that_has_not_begun_costs_two_lists(requests: Requests) -> None:
    watcher = Watcher(Storage("s3://bucket/later"))
    watcher.look()
    requests.counts()
    watcher.look()
    assert requests.counts() == {"list_with_delimiter": 2}
