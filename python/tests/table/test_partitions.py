"""How many partitions a batch has, where Spark's logs do not say it or say something else."""

from __future__ import annotations

import pytest

import keyfold
from keyfold.errors import PartitionsMismatchError
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter

ROWS = {key: key for key in range(40)}


def rescaled(fake: FakeCheckpoint, *, ids: bool) -> None:
    """A rescale to four partitions does not change an operator's metadata of format v1."""
    StateWriter(fake, partitions=4, ids=ids).batch(ROWS)
    fake.operator(partitions=2)


@pytest.mark.parametrize("ids", [False, True])
@pytest.mark.parametrize("left", [None, "v1\n{}\n0"])
def test_all_rows_are_found_without_the_offset_log(
    fake: FakeCheckpoint, left: str | None, *, ids: bool
) -> None:
    rescaled(fake, ids=ids)
    offsets = fake.root / "offsets/0"
    offsets.unlink() if left is None else offsets.write_text(left)
    checkpoint = keyfold.open_checkpoint(fake.root)
    table = checkpoint["agg"].only
    found = {row["key"]["id"]: row["value"]["total"] for row in table.scan().to_arrow().to_pylist()}
    assert found == ROWS
    assert [key for key in ROWS if table.get({"id": key}).num_rows != 1] == []
    assert checkpoint.describe().operators[0].partitions == 4


@pytest.mark.parametrize("ids", [False, True])
def test_an_offset_log_of_another_layout_is_refused(fake: FakeCheckpoint, *, ids: bool) -> None:
    rescaled(fake, ids=ids)
    fake.start(0, partitions=2)
    table = keyfold.open_checkpoint(fake.root)["agg"].only
    with pytest.raises(PartitionsMismatchError, match="for 4 partitions and the offset log says 2"):
        table.scan().to_arrow()
    with pytest.raises(PartitionsMismatchError):
        table.get({"id": 1})
