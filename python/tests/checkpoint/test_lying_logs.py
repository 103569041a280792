"""Spark's own files and the names of files, when they say what cannot be."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import keyfold
from keyfold.errors import CheckpointDamagedError
from keyfold.spark_log.logs import read_commit, read_offsets, read_operator
from keyfold.storage.storage import Storage
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter


@pytest.fixture
def storage(fake: FakeCheckpoint) -> Storage:
    fake.run(0)
    fake.operator()
    return Storage(fake.root)


def _operator(fake: FakeCheckpoint, **changes: Any) -> str:
    metadata = json.loads((fake.root / "state/0/_metadata/metadata").read_text().split("\n")[1])
    metadata["stateStoreInfo"][0] |= changes
    return "v1\n" + json.dumps(metadata)


@pytest.mark.parametrize("unique", ["../../x", "a/b", "a.b", "..", "a\0b", "\x1b[2J"])
def test_an_id_that_leads_elsewhere(fake: FakeCheckpoint, storage: Storage, unique: str) -> None:
    fake.commit(0, {0: [[unique], ["b"]]})
    with pytest.raises(CheckpointDamagedError, match="cannot be the id of a version"):
        read_commit(storage, 0)


@pytest.mark.parametrize("name", ["", ".", "..", "../../x", "/tmp", "a/b", "a\0b"])  # noqa: S108
def test_a_store_that_lies_elsewhere(fake: FakeCheckpoint, storage: Storage, name: str) -> None:
    fake.operator(stores=(name,))
    with pytest.raises(CheckpointDamagedError, match="cannot be the name of a store"):
        read_operator(storage, 0, 0)


def test_an_operator_without_a_store(fake: FakeCheckpoint, storage: Storage) -> None:
    fake.run(0)
    fake.operator(stores=())
    with pytest.raises(CheckpointDamagedError, match="operator 0 has no store"):
        read_operator(storage, 0, 0)


@pytest.mark.parametrize("path", ["../../..", "/a/../../x", "x/a//b"])
def test_a_schema_file_that_lies_elsewhere(
    fake: FakeCheckpoint, storage: Storage, path: str
) -> None:
    fake.write("state/0/_metadata/metadata", _operator(fake, stateSchemaFilePaths=[path]))
    with pytest.raises(CheckpointDamagedError):
        read_operator(storage, 0, 0)


@pytest.mark.parametrize("partitions", [100_001, (1 << 31) - 1, "100001"])
def test_more_partitions_than_anybody_has(
    fake: FakeCheckpoint, storage: Storage, partitions: Any
) -> None:
    fake.write("state/0/_metadata/metadata", _operator(fake, numPartitions=partitions))
    with pytest.raises(CheckpointDamagedError, match=r"100001|2147483647"):
        read_operator(storage, 0, 0)
    fake.start(0, partitions=int(partitions))
    with pytest.raises(CheckpointDamagedError, match=r"100001|2147483647"):
        read_offsets(storage, 0)


DEEP = '{"a":' * 100_000 + "1" + "}" * 100_000


@pytest.mark.parametrize("text", [DEEP, '{"operatorInfo": 1e999}', '{"a": NaN}'])
def test_json_that_cannot_be(fake: FakeCheckpoint, storage: Storage, text: str) -> None:
    fake.write("state/0/_metadata/metadata", f"v1\n{text}")
    fake.write("offsets/0", f"v1\n{text}")
    fake.write("commits/0", f"v1\n{text}")
    for read in (
        lambda: read_operator(storage, 0, 0),
        lambda: read_offsets(storage, 0),
        lambda: read_commit(storage, 0),
    ):
        with pytest.raises(CheckpointDamagedError):
            read()


@pytest.mark.parametrize("count", [float("inf"), 1e300])
def test_numbers_that_are_none(fake: FakeCheckpoint, storage: Storage, count: float) -> None:
    text = _operator(fake, numPartitions=0).replace(
        '"numPartitions": 0', f'"numPartitions": {count}'
    )
    fake.write("state/0/_metadata/metadata", text.replace("Infinity", "1e999"))
    with pytest.raises(CheckpointDamagedError):
        read_operator(storage, 0, 0)


@pytest.mark.parametrize("name", [b"\xff\xfe.delta", b"9" * 30, b"9" * 200, b"9" * 30 + b".delta"])
def test_names_that_are_no_text_or_no_number(fake: FakeCheckpoint, name: bytes) -> None:
    writer = StateWriter(fake)
    writer.batch({1: 1})
    for folder in ("offsets", "commits", "state", "state/0", "state/0/0"):
        Path(os.fsdecode(os.fsencode(fake.root / folder) + b"/" + name)).write_bytes(b"v1\n{}")
    opened = keyfold.open_checkpoint(fake.root)
    assert opened.describe().rows == 1
    assert not opened.describe().problems
    assert opened.batches().num_rows == 1
    assert opened.inspect.files().num_rows == 2
    assert opened.fsck().ok


def test_a_moment_that_no_calendar_has(fake: FakeCheckpoint) -> None:
    for ms in ((1 << 63) - 1, -(1 << 63)):
        fake.run(0)
        path = fake.root / "offsets/0"
        path.write_text(path.read_text().replace("1700000000000", str(ms)))
        assert f"{ms} ms" in str(keyfold.open_checkpoint(fake.root).describe())


def test_a_moment_that_is_no_number(fake: FakeCheckpoint, storage: Storage) -> None:
    path = fake.root / "offsets/0"
    path.write_text(path.read_text().replace("1700000000000", "true"))
    with pytest.raises(CheckpointDamagedError):
        read_offsets(storage, 0)
