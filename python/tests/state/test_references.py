"""Versions that a rescale has made of other files: every row comes to its new partition, once."""

from __future__ import annotations

from math import gcd
from typing import Any

import pytest

import keyfold
from keyfold.errors import FileCorruptError, FileMissingError
from keyfold.fsck import store as store_check
from keyfold.fsck.finding import Kind
from kit.fake_checkpoint import FakeCheckpoint
from kit.golden.encoder import encode
from kit.golden.manifest import file as named_file
from kit.golden.manifest import had, manifest, part, raw_part
from kit.golden.spec import family, link, spec
from kit.state_writer import StateWriter, hash_of

PLAN = "p-1"


def rescale(writer: StateWriter, to: int, layers: list[tuple[int, list[Any]]]) -> None:
    """What FORMAT.md 11 says: each layer in as many parts as the largest common divisor says."""
    version = writer.batch_number + 2
    parts, first = [], []
    for partitions, of in layers:
        classes = gcd(partitions, to)
        first.append((len(parts), classes))
        parts += [
            part(partitions, *(it for it in of if it["partition"] % classes == number))
            for number in range(classes)
        ]
    content, places = manifest([("none", raw_part(it)) for it in parts])
    writer.fake.write(f"keyfold/rescale-{version - 1}-{PLAN}.manifest", content)
    for partition in range(to):
        identity = {
            "version": version, "id": f"new-{partition}", "partition": partition,
            "partitions": to, "keyGroups": writer.groups,
        }  # fmt: skip
        own = [places[start + partition % classes] for start, classes in first]
        content = encode(
            spec("", "reference", identity, families=[family(0, "default", -1, -1, values=-1)],
                 references={"plan": PLAN, "parts": own})
        )  # fmt: skip
        writer.fake.write(f"state/0/{partition}/{version}_new-{partition}.ref", content)
    writer.fake.start(version - 1, partitions=to)
    writer.fake.commit(version - 1, {0: [[f"new-{partition}"] for partition in range(to)]})


def named(writer: StateWriter, partition: int, version: int, kind: str = "delta") -> dict[str, Any]:
    path = writer.path(version, kind, partition)
    return named_file(
        str(path.relative_to(writer.fake.root)),
        kind,
        version,
        path.stat().st_size,
        writer.unique(partition, version),
    )


def layer_of(writer: StateWriter, *versions: int, on_top: bool = False) -> tuple[int, list[Any]]:
    """A layer of all partitions of a writer, with the deltas of some versions."""
    return writer.partitions, [
        had(p, *(named(writer, p, version) for version in versions), on_top=on_top)
        for p in range(writer.partitions)
    ]


def check(fake: FakeCheckpoint, to: int, expected: dict[int, int]) -> None:
    opened = keyfold.open_checkpoint(fake.root)
    rows = opened[0].scan().to_pylist()
    assert {row["key"]["id"]: row["value"]["total"] for row in rows} == expected
    assert len(rows) == len(expected)
    for row in rows:
        assert row["partition_id"] == hash_of(row["key"]["id"]) % to
    for key, value in list(expected.items())[:3]:
        assert opened[0].get({"id": key}).to_pylist()[0]["value"] == {"total": value}
    assert [it for it in opened.fsck(deep=True).findings if it.is_damage] == []


@pytest.mark.parametrize("to", [4, 1, 3, 6, 5, 8])
def test_rows_are_where_a_manifest_says(fake: FakeCheckpoint, to: int) -> None:
    writer = StateWriter(fake)
    writer.batch({key: key for key in range(60)})
    writer.batch(dict.fromkeys(range(0, 60, 3)))
    writer.batch({key: 1000 + key for key in range(0, 60, 4)})
    rescale(writer, to, [layer_of(writer, 1, 2, 3)])
    check(fake, to, {key: values[0] for key, values in writer.rows.items()})
    opened = keyfold.open_checkpoint(fake.root)
    assert opened[0].count() == len(writer.rows)
    assert opened[0].diff(2, 3).num_rows == 0
    assert opened[0].history({"id": 4}).column("batch_id").to_pylist()[:1] == [0]
    assert opened.inspect.references().column("referenced_files").to_pylist() == [
        3 * sum(p % gcd(2, to) == q % gcd(2, to) for p in range(2)) for q in range(to)
    ]


@pytest.mark.parametrize("to", [1, 4, 5, 8])
def test_groups_that_several_partitions_refer_to_are_listed_once(
    fake: FakeCheckpoint, to: int
) -> None:
    writer = StateWriter(fake)
    writer.batch({key: key for key in range(60)})
    writer.batch(dict.fromkeys(range(0, 60, 3)))
    rescale(writer, to, [layer_of(writer, 1, 2)])
    groups = keyfold.open_checkpoint(fake.root).inspect.groups()
    assert sum(groups.column("entries").to_pylist()) == 60 + 20
    page = fake.root / "report.html"
    keyfold.open_checkpoint(fake.root).report(page)
    assert "bytes in files that are referred to" in page.read_text()


@pytest.mark.parametrize("to", [2, 3, 4, 5, 8])
def test_rows_of_partitions_that_stand_on_an_earlier_layer(fake: FakeCheckpoint, to: int) -> None:
    """Rescaled twice: 2 -> 3, then on. Partition 1 of 3 has a snapshot since, the others not."""
    writer = StateWriter(fake)
    writer.batch({key: key for key in range(60)})
    older = layer_of(writer, 1)
    writer.partitions = 3
    writer.lineage = {p: [] for p in range(3)}
    writer.batch(dict.fromkeys(range(0, 60, 4), 77) | dict.fromkeys(range(0, 60, 5)))
    partitions, of = layer_of(writer, 2, on_top=True)
    # What partition 1 has is all in its own file, also what the old files have otherwise.
    mine = {key: values for key, values in writer.rows.items() if writer.owner(key) == 1}
    content = writer.file(2, "snapshot", 1, [writer._put(key) for key in mine], lineage=[])
    path = writer.path(2, "snapshot", 1)
    path.write_bytes(content)
    of[1] = had(
        1,
        named_file(str(path.relative_to(fake.root)), "snapshot", 2, len(content), "id-2-1"),
    )
    rescale(writer, to, [older, (partitions, of)])
    # Only the files that they would need are not written here.
    for batch in range(2):
        (fake.root / f"commits/{batch}").unlink()
    check(fake, to, {key: values[0] for key, values in writer.rows.items()})


def test_manifest_that_is_gone_is_named(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake)
    writer.batch({key: key for key in range(20)})
    rescale(writer, 4, [layer_of(writer, 1)])
    path = fake.root / f"keyfold/rescale-1-{PLAN}.manifest"
    path.unlink()
    with pytest.raises(FileMissingError, match=path.name):
        keyfold.open_checkpoint(fake.root)[0].scan().to_arrow()
    findings = keyfold.open_checkpoint(fake.root).fsck().findings
    assert {it.kind for it in findings if it.is_damage} == {Kind.DAMAGED}
    assert all(path.name in it.message for it in findings if it.is_damage)


@pytest.mark.parametrize("moment", ["list_store", "chain_of"])
def test_files_that_retention_deletes_while_they_are_checked(
    fake: FakeCheckpoint, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """An executor whose driver was killed may do so: no batch is committed meanwhile."""
    writer = StateWriter(fake)
    writer.batch({key: key for key in range(20)})
    rescale(writer, 4, [layer_of(writer, 1)])
    writer.partitions = 4
    snapshots = {}
    for partition in range(4):
        rows = [writer._put(key) for key in writer.rows if writer.owner(key) == partition]
        unique = f"new-{partition}"
        content = writer.file(2, "snapshot", partition, rows, id=unique, lineage=[])
        snapshots[f"state/0/{partition}/2_{unique}.snapshot"] = content
    for log in ("commits", "offsets"):
        (fake.root / log / "0").unlink()
    real = getattr(store_check, moment)

    def delete(*arguments: Any, **options: Any) -> Any:
        """As soon as there are snapshots: the references, then what they refer to."""
        found = real(*arguments, **options)
        location = arguments[1] if moment == "list_store" else arguments[0].location
        # One that has no files of its own.
        if location.partition != 3:
            return found
        for path, content in snapshots.items():
            fake.write(path, content)
        gone = ["state/*/*/*.ref", "keyfold/*.manifest", "state/*/*/1_*.delta"]
        for path in [it for pattern in gone for it in fake.root.glob(pattern)]:
            path.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(store_check, moment, delete)
    found = keyfold.open_checkpoint(fake.root).fsck().findings
    assert [it for it in found if it.is_damage] == []


def test_listing_that_lacks_a_deleted_file_and_the_one_in_its_place(
    fake: FakeCheckpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A listing takes its time: names first, then the size of each."""
    writer = StateWriter(fake)
    writer.batch({key: key for key in range(20)}, snapshots=True)
    real = store_check.list_store
    first = {0, 1}

    def lacking(*arguments: Any, **options: Any) -> Any:
        found = real(*arguments, **options)
        if found.location.partition in first:
            first.remove(found.location.partition)
            found.sizes.clear()
        return found

    monkeypatch.setattr(store_check, "list_store", lacking)
    found = keyfold.open_checkpoint(fake.root).fsck().findings
    assert first == set()
    assert [it for it in found if it.is_damage] == []


def test_snapshot_that_another_executor_has_written_again(fake: FakeCheckpoint) -> None:
    """It has the rows of the id in its name, in other bytes than those that were referred to."""
    writer = StateWriter(fake)
    writer.batch({key: key for key in range(20)}, snapshots=True)
    snapshots = [had(p, named(writer, p, 1, "snapshot")) for p in range(writer.partitions)]
    rescale(writer, 4, [(writer.partitions, snapshots)])
    for partition in range(writer.partitions):
        path = writer.path(1, "snapshot", partition)
        rows = [writer._put(key) for key in range(20) if writer.owner(key) == partition]
        longer = writer.file(1, "snapshot", partition, rows, lineage=[], writer="another")
        assert len(longer) != path.stat().st_size
        path.write_bytes(longer)
    check(fake, 4, {key: key for key in range(20)})


def merged_layer(writer: StateWriter, base: int) -> tuple[int, list[Any]]:
    """A layer with the deltas up to a version, and a merged delta of what was changed since."""
    of = []
    for partition in range(writer.partitions):
        path = writer.merge(base, partition)
        merged = named_file(
            str(path.relative_to(writer.fake.root)),
            "merged",
            writer.batch_number + 1,
            path.stat().st_size,
            writer.unique(partition, writer.batch_number + 1),
            base,
        )
        deltas = [named(writer, partition, version) for version in range(1, base + 1)]
        of.append(had(partition, *deltas, merged))
    return writer.partitions, of


@pytest.mark.parametrize("to", [1, 3, 4])
def test_rows_of_merged_deltas_come_to_their_partitions(fake: FakeCheckpoint, to: int) -> None:
    writer = StateWriter(fake)
    writer.batch({key: key for key in range(40)})
    writer.batch(dict.fromkeys(range(0, 40, 3), 2))
    writer.batch(dict.fromkeys(range(0, 40, 2)))
    writer.batch(dict.fromkeys(range(5), 4))
    rescale(writer, to, [merged_layer(writer, 1)])
    # No more is read than what the manifest lists.
    for partition in range(2):
        for version in (2, 3, 4):
            writer.path(version, "delta", partition).unlink()
    for batch in range(4):
        (fake.root / f"commits/{batch}").unlink()
        (fake.root / f"offsets/{batch}").unlink()
    check(fake, to, {key: values[0] for key, values in writer.rows.items()})


def test_merged_delta_that_another_executor_has_written_again(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake)
    for value in range(3):
        writer.batch(dict.fromkeys(range(value, 20), value))
    layer = merged_layer(writer, 1)
    rescale(writer, 4, [layer])
    expected = {key: values[0] for key, values in writer.rows.items()}
    for partition in range(writer.partitions):
        path = writer.path(3, "1.merged", partition)
        rows = [writer._put(key) for key in range(1, 20) if writer.owner(key) == partition]
        lineage = [link(it, "delta", writer.unique(partition, it)) for it in (2, 1)]
        longer = writer.file(
            3, "merged", partition, rows, lineage=lineage, base=1, writer="another"
        )
        assert len(longer) != path.stat().st_size
        path.write_bytes(longer)
    check(fake, 4, expected)
    # Of another base, it is another file.
    path.write_bytes(writer.file(3, "merged", 1, rows, lineage=lineage, base=2))
    with pytest.raises(FileCorruptError, match=r"base 2, which is not what its name says"):
        keyfold.open_checkpoint(fake.root)[0].scan().to_arrow()


def test_file_that_is_not_the_one_referred_to(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake)
    writer.batch({key: key for key in range(20)})
    rescale(writer, 4, [layer_of(writer, 1)])
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
    rescale(writer, 1, [layer_of(writer, 1, 2)])
    rows = keyfold.open_checkpoint(fake.root)[0].scan().to_pylist()
    assert {row["key"]["id"] for row in rows} == {
        key for key in range(20) if writer.owner(key) == 0
    }


def test_strays_that_were_dropped_with_their_family_are_not_taken(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake, strays={5: 1})
    assert hash_of(5) % 2 == 0
    writer.batch({5: 50})
    writer.batch({})
    for partition in range(2):
        dropping: dict[str, Any] = spec(
            "",
            "delta",
            {"version": 2, "id": f"id-2-{partition}", "partition": partition, "partitions": 2,
             "keyGroups": 12},
            lineage=[{"version": 1, "kind": "delta", "id": f"id-1-{partition}"}],
            dropped=["default"],
            families=[family(0, "default", 0, 0)],
        )  # fmt: skip
        writer.path(2, "delta", partition).write_bytes(encode(dropping))
    rescale(writer, 1, [layer_of(writer, 1, 2)])
    assert keyfold.open_checkpoint(fake.root)[0].scan().to_pylist() == []
