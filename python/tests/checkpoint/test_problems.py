"""A broken checkpoint is described as far as it can be, and what is wrong is named."""

from __future__ import annotations

import pytest

import keyfold
from keyfold.describe.description import Description
from kit.fake_checkpoint import FakeCheckpoint


@pytest.fixture
def described(fake: FakeCheckpoint) -> Description:
    """A checkpoint of 3 batches, with the head of partition 1 damaged."""
    fake.run(0, 1, 2)
    fake.operator()
    for partition in (0, 1):
        for version in (1, 2, 3):
            fake.state(version, partition=partition)
    path = fake.root / "state/0/1/3.delta"
    path.write_bytes(path.read_bytes()[:-30])
    return keyfold.open_checkpoint(fake.root).describe()


def test_damaged_head_is_named_and_the_rest_is_counted(described: Description) -> None:
    (problem,) = described.problems
    assert problem.condition == "KEYFOLD_FILE_CORRUPT"
    assert problem.path.endswith("cp/state/0/1")
    assert "state/0/1/3.delta (operator 0 partition 1)" in problem.message
    assert described.rows == 10


def test_what_can_still_be_loaded_is_said(described: Description) -> None:
    (operator,) = described.operators
    assert operator.latest_version == 3
    assert operator.oldest_loadable_version == 1
    assert operator.newest_loadable_version == 2
    assert "version 3 cannot be loaded, 1 to 2 can" in " ".join(str(described).split())


def test_missing_head(fake: FakeCheckpoint) -> None:
    fake.run(0)
    fake.operator()
    fake.state(1)
    found = keyfold.open_checkpoint(fake.root).describe()
    (problem,) = found.problems
    assert problem.condition == "KEYFOLD_FILE_MISSING"
    assert "1.delta" in problem.message
    assert "cannot be loaded" in str(found)


def test_foreign_head(fake: FakeCheckpoint) -> None:
    fake.partitions = 1
    fake.run(0)
    fake.operator()
    fake.write("state/0/0/1.delta", b"LZ4Block" * 10)
    (problem,) = keyfold.open_checkpoint(fake.root).describe().problems
    assert problem.condition == "KEYFOLD_NOT_A_KEYFOLD_FILE"


def test_head_of_another_partition(fake: FakeCheckpoint) -> None:
    fake.run(0)
    fake.operator()
    fake.state(1)
    fake.write("state/0/1/1.delta", (fake.root / "state/0/0/1.delta").read_bytes())
    (problem,) = keyfold.open_checkpoint(fake.root).describe().problems
    assert problem.condition == "KEYFOLD_FILE_CORRUPT"
    assert "partition 0" in problem.message


def test_unfinished_rescale(fake: FakeCheckpoint) -> None:
    fake.start(0, partitions=1)
    fake.commit(0)
    fake.operator()
    fake.state(1)
    (problem,) = keyfold.open_checkpoint(fake.root).describe().problems
    assert problem.condition == "KEYFOLD_PARTITIONS_MISMATCH"
    assert "written for 2 partitions and the query has 1" in problem.message


def test_partitions_with_different_key_groups(fake: FakeCheckpoint) -> None:
    fake.run(0)
    fake.operator()
    fake.state(1)
    fake.state(1, partition=1, keyGroups=24)
    (problem,) = keyfold.open_checkpoint(fake.root).describe().problems
    assert problem.condition == "KEYFOLD_KEY_GROUPS_MISMATCH"
    assert "12, 24" in problem.message


def test_operator_without_metadata(fake: FakeCheckpoint) -> None:
    fake.run(0)
    fake.state(1)
    found = keyfold.open_checkpoint(fake.root).describe()
    assert found.operators == ()
    assert [it.condition for it in found.problems] == ["KEYFOLD_FILE_MISSING"]


def test_unreadable_commit(fake: FakeCheckpoint) -> None:
    fake.run(0)
    fake.write("commits/1", "?")
    found = keyfold.open_checkpoint(fake.root).describe()
    assert found.last_batch == 0
    assert [it.condition for it in found.problems] == ["KEYFOLD_CHECKPOINT_DAMAGED"]


def test_damaged_snapshot_in_a_lineage_hides_only_what_lies_before(fake: FakeCheckpoint) -> None:
    fake.start(3)
    fake.commit(3, {0: [["d"], ["d"]]})
    fake.operator()
    for partition in (0, 1):
        here = {"partition": partition}
        lineage = [{"version": 3, "kind": "snapshot", "id": "c"}]
        fake.state(4, id="d", lineage=lineage, **here)
        fake.state(3, "snapshot", id="c", **here).write_bytes(b"")
    (operator,) = keyfold.open_checkpoint(fake.root).describe().operators
    assert (operator.oldest_loadable_version, operator.newest_loadable_version) == (3, 4)
