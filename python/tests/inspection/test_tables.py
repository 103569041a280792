"""Tables of metadata against what was written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import keyfold
from keyfold.errors import InvalidArgumentError, UnknownNameError
from keyfold.storage.storage import Storage
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter, hash_of


@pytest.fixture
def writer(fake: FakeCheckpoint) -> StateWriter:
    found = StateWriter(fake, multi=True)
    found.batch({key: [key] for key in range(30)})
    found.batch({7: ("append", [1] * 50)}, snapshots=True)
    found.batch({8: [5, 5]})
    return found


def rows(table: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.to_pylist()
    json.dumps(found)
    return found


def inspected(writer: StateWriter) -> Any:
    return keyfold.open_checkpoint(writer.fake.root).inspect


def owned(writer: StateWriter, partition: int) -> dict[int, list[int]]:
    return {k: v for k, v in writer.rows.items() if writer.owner(k) == partition}


def test_partitions(writer: StateWriter) -> None:
    for partition, row in enumerate(rows(inspected(writer).partitions())):
        own = owned(writer, partition)
        values = sum(map(len, own.values()))
        assert (row["rows"], row["values"]) == (len(own), values)
        assert row["live_bytes"] == 16 * (len(own) + values)
        assert (row["version"], row["head"], row["deltas_to_load"]) == (3, "delta", 1)
        assert row["files"] == 4
    (first, _) = rows(inspected(writer).partitions(batch=0))
    assert (first["version"], first["deltas_to_load"]) == (1, 1)


def test_files(writer: StateWriter) -> None:
    found = rows(inspected(writer).files())
    paths = {it.name: it for it in Path(writer.fake.root).glob("state/0/*/*.*")}
    assert {row["name"]: row["bytes"] for row in found} == {
        name: path.stat().st_size for name, path in paths.items()
    }
    assert {row["kind"] for row in found} == {"delta", "snapshot"}
    assert {(row["version"], row["batch_id"]) for row in found} == {(1, 0), (2, 1), (3, 2)}


def test_snapshots_and_deltas(writer: StateWriter) -> None:
    snapshots = rows(inspected(writer).snapshots())
    assert [row["entries"] for row in snapshots] == [len(owned(writer, it)) for it in (0, 1)]
    deltas = rows(inspected(writer).deltas())
    assert sum(row["entries"] for row in deltas) == 30 + 1 + 1
    assert {row["writer"] for row in deltas} == {"golden 1"}
    assert rows(inspected(writer).references()) == []


def test_merged_deltas(writer: StateWriter) -> None:
    assert rows(inspected(writer).merged_deltas()) == []
    writer.batch({8: ("append", [6]), 7: None, 40: [1]})
    for partition in (0, 1):
        writer.merge(2, partition)
    found = rows(inspected(writer).merged_deltas())
    assert [row["name"] for row in found] == ["4_id-4-0.2.merged", "4_id-4-1.2.merged"]
    assert {(row["kind"], row["base"], row["batch_id"]) for row in found} == {
        ("merged delta", 2, 3)
    }
    # Of 8, which two batches have changed, there is one entry.
    assert sum(row["entries"] for row in found) == 3
    assert {row["base"] for row in rows(inspected(writer).deltas())} == {None}
    files = [row for row in rows(inspected(writer).files()) if row["name"].endswith(".merged")]
    assert {(row["kind"], row["version"]) for row in files} == {("merged delta", 4)}
    # The merged delta alone, after the snapshot of version 2.
    assert [row["deltas_to_load"] for row in rows(inspected(writer).partitions())] == [1, 1]


def test_groups(writer: StateWriter) -> None:
    found = [it for it in rows(inspected(writer).groups()) if it["name"].endswith("snapshot")]
    expected: dict[int, int] = {}
    for key in writer.rows:
        expected[hash_of(key) % 12] = expected.get(hash_of(key) % 12, 0) + 1
    assert {row["key_group"]: row["entries"] for row in found} == expected


def test_column_families(writer: StateWriter) -> None:
    (row,) = rows(inspected(writer).column_families())
    assert (row["family"], row["multi_value"], row["partition_key"]) == ("default", True, "all")
    assert (row["keys"], row["values"]) == (30, 30 + 50 + 1)


@pytest.mark.parametrize("by", ["bytes", "rows"])
def test_skew(writer: StateWriter, by: str) -> None:
    skew = inspected(writer).skew(by, top=3)
    partitions = {row["partition"]: row for row in rows(skew.partitions)}
    assert {it: row["rows"] for it, row in partitions.items()} == {
        it: sum(len(writer.rows[key]) for key in owned(writer, it)) for it in (0, 1)
    }
    groups = {(row["key_group"]): (row["rows"], row["bytes"]) for row in rows(skew.groups)}
    expected: dict[int, tuple[int, int]] = {}
    for key, values in writer.rows.items():
        number, size = expected.get(hash_of(key) % 12, (0, 0))
        expected[hash_of(key) % 12] = (number + len(values), size + 16 * (1 + len(values)))
    assert groups == expected
    heaviest = rows(skew.keys)
    assert len(heaviest) == 3
    if by == "bytes":
        assert heaviest[0]["key"] == '{"id": 7}'
        assert heaviest[1]["key"] == '{"id": 8}'
    else:
        assert heaviest[0]["key"] == '{"id": 7}'
    assert (heaviest[0]["rows"], heaviest[0]["bytes"]) == (51, 16 * 52)
    assert "<table>" in skew._repr_html_()


def test_skew_by_something_else(writer: StateWriter) -> None:
    with pytest.raises(InvalidArgumentError, match="by bytes or by rows"):
        inspected(writer).skew("weight")


def test_batches(writer: StateWriter) -> None:
    writer.fake.start(3)
    found = rows(keyfold.open_checkpoint(writer.fake.root).batches())
    assert [row["batch_id"] for row in found] == [0, 1, 2, 3]
    assert [row["committed"] for row in found] == [True, True, True, False]
    assert [row["started_ms"] for row in found] == [1700000000000 + n * 1000 for n in range(4)]
    assert found[3]["duration_ms"] is None
    assert {row["partitions"] for row in found} == {2}


def test_batches_of_a_copy_have_no_durations(writer: StateWriter) -> None:
    """Files of batches that ran in 2023 and were copied today are younger than the next batch."""
    found = rows(keyfold.open_checkpoint(writer.fake.root).batches())
    assert [row["duration_ms"] for row in found] == [None] * 3
    for number in range(3):
        # Each was committed 400 ms after it began.
        at = 1700000000 + number + 0.4
        os.utime(writer.fake.root / f"commits/{number}", (at, at))
    found = rows(keyfold.open_checkpoint(writer.fake.root).batches())
    assert [row["duration_ms"] for row in found] == [400, 400, 400]


def test_operators_by_name(writer: StateWriter) -> None:
    opened = keyfold.open_checkpoint(writer.fake.root)
    for name in (0, "0", "agg", "stateStoreSave"):
        assert opened[name].id == 0
    with pytest.raises(UnknownNameError, match="0 stateStoreSave"):
        _ = opened["join"]
    with pytest.raises(UnknownNameError, match="default"):
        _ = opened["agg"]["left"]


def test_rows_cost_no_calls(fake: FakeCheckpoint, monkeypatch: Any) -> None:
    """What `describe` and a count ask of the storage is the same for any number of rows."""
    writer = StateWriter(fake)
    counts = []
    calls: list[str] = []
    for name in ("listing", "open", "content"):
        original = getattr(Storage, name)
        monkeypatch.setattr(
            Storage,
            name,
            lambda it, path, *size, f=original, **how: (
                calls.append(path),
                f(it, path, *size, **how),
            )[1],
        )
    for count in (10, 2000):
        writer.batch({key: key for key in range(count)})
        opened = keyfold.open_checkpoint(fake.root)
        calls.clear()
        opened.describe()
        assert opened["agg"].count(writer.batch_number) == count
        counts.append(len([it for it in calls if not it.startswith("state/0/_")]))
    assert counts[1] - counts[0] <= 0
