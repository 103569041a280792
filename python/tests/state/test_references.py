"""Versions that a rescale has made of other files: every row comes to its new partition, once."""

from __future__ import annotations

from typing import Any

import pytest

import keyfold
from fake_checkpoint import FakeCheckpoint
from golden_encoder import encode
from golden_valid import family, spec
from keyfold.errors import FileCorruptError
from state_writer import StateWriter, hash_of


def rescale(writer: StateWriter, to: int, *, modulus: int, filtered: bool) -> None:
    """What FORMAT.md 4.7 says: all old files in order, the groups of each part, a row filter."""
    old, version = writer.partitions, writer.batch_number + 1
    for partition in range(to):
        files = []
        for source in range(old):
            for number in range(1, version + 1):
                path = writer.path(number, "delta", source)
                files.append(
                    {
                        "path": str(path.relative_to(writer.fake.root / "state")),
                        "kind": "delta",
                        "version": number,
                        "id": writer.unique(source, number),
                        "length": path.stat().st_size,
                        "groupModulus": modulus,
                        "groupResidue": partition % modulus,
                        "rowModulus": to if filtered else 0,
                        "rowResidue": partition if filtered else 0,
                    }
                )
        identity = {
            "version": version + 1, "id": f"new-{partition}", "partition": partition,
            "partitions": to, "keyGroups": writer.groups,
        }  # fmt: skip
        content = encode(
            spec("", "reference", identity, families=[family(0, "default", -1, -1, values=-1)],
                 references={"plan": "p", "files": files})
        )  # fmt: skip
        writer.fake.write(f"state/0/{partition}/{version + 1}_new-{partition}.ref", content)
    writer.fake.start(version, partitions=to)
    writer.fake.commit(version, {0: [[f"new-{partition}"] for partition in range(to)]})


@pytest.mark.parametrize(
    ("to", "modulus", "filtered"),
    [(4, 4, False), (1, 1, False), (3, 3, False), (6, 6, False), (5, 1, True), (8, 4, True)],
)
def test_rows_are_where_they_belong(
    fake: FakeCheckpoint,
    to: int,
    modulus: int,
    filtered: bool,  # noqa: FBT001
) -> None:
    writer = StateWriter(fake)
    writer.batch({key: key for key in range(60)})
    writer.batch(dict.fromkeys(range(0, 60, 3)))
    writer.batch({key: 1000 + key for key in range(0, 60, 4)})
    before = {key: values[0] for key, values in writer.rows.items()}
    rescale(writer, to, modulus=modulus, filtered=filtered)
    opened = keyfold.open_checkpoint(fake.root)
    rows = opened[0].scan().to_pylist()
    assert {row["key"]["id"]: row["value"]["total"] for row in rows} == before
    assert len(rows) == len(before)
    for row in rows:
        assert row["partition_id"] == hash_of(row["key"]["id"]) % to
    assert opened[0].count() == len(before)
    assert opened[0].get({"id": 4}).to_pylist()[0]["value"] == {"total": 1004}
    assert opened[0].diff(2, 3).num_rows == 0
    assert opened[0].history({"id": 4}).column("batch_id").to_pylist()[:1] == [0]
    assert [it for it in opened.fsck(deep=True).findings if it.is_damage] == []


def test_file_that_is_not_the_one_referred_to(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake)
    writer.batch({key: key for key in range(20)})
    rescale(writer, 4, modulus=4, filtered=False)
    path = writer.path(1, "delta", 0)
    path.write_bytes(writer.file(1, "delta", 0, [], lineage=[]))
    with pytest.raises(FileCorruptError):
        keyfold.open_checkpoint(fake.root)[0].scan().to_arrow()


def test_family_dropped_by_one_partition_stays_with_the_others(fake: FakeCheckpoint) -> None:
    """A dropped family in a referenced delta speaks for its own old partition alone."""
    writer = StateWriter(fake)
    writer.batch({key: key for key in range(20)})
    writer.batch({})
    # In its second version partition 1 drops the family, after partition 0 was applied.
    dropping: dict[str, Any] = spec(
        "",
        "delta",
        {"version": 2, "id": "id-2-1", "partition": 1, "partitions": 2, "keyGroups": 12},
        lineage=[{"version": 1, "kind": "delta", "id": "id-1-1"}],
        dropped=["default"],
        families=[family(0, "default", 0, 0)],
    )
    writer.path(2, "delta", 1).write_bytes(encode(dropping))
    rescale(writer, 1, modulus=1, filtered=False)
    rows = keyfold.open_checkpoint(fake.root)[0].scan().to_pylist()
    assert {row["key"]["id"] for row in rows} == {
        key for key in range(20) if writer.owner(key) == 0
    }
