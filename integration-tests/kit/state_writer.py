"""Writes the state of a query with BIGINT keys and values, right down to hashes and counts.

It shares no code with the reader: files by the golden encoder, hashes by a Murmur3 of its own.
"""

from __future__ import annotations

import json
import struct
from typing import Any

from kit.fake_checkpoint import FakeCheckpoint
from kit.golden.encoder import encode
from kit.golden.spec import append, bigint, block, family, group, link, put, remove, spec

MASK = 0xFFFFFFFF


def murmur(words: list[int], length: int, seed: int = 42) -> int:
    def turned(word: int, bits: int) -> int:
        return (word << bits | word >> 32 - bits) & MASK

    found = seed
    for word in words:
        mixed = turned(word * 0xCC9E2D51 & MASK, 15) * 0x1B873593 & MASK
        found = (turned(found ^ mixed, 13) * 5 + 0xE6546B64) & MASK
    found ^= length
    found = (found ^ found >> 16) * 0x85EBCA6B & MASK
    found = (found ^ found >> 13) * 0xC2B2AE35 & MASK
    found ^= found >> 16
    return found - (1 << 32) if found >> 31 else found


def hash_of(key: int) -> int:
    low, high = struct.unpack("<II", struct.pack("<q", key))
    return murmur([low, high], 8)


class StateWriter:
    """A query with one operator; a batch changes rows, and makes the next version of each part.

    With `multi`, a value is a list, and a change to `("append", [...])` adds to it. With `sparse`,
    and ids, a part that does not change is not written, as Keyfold does it. Keys of `strays` are in
    the partitions given, whatever their hash says.
    """

    def __init__(
        self, fake: FakeCheckpoint, *, partitions: int = 2, groups: int = 12, ids: bool = True,
        multi: bool = False, sparse: bool = False, strays: dict[int, int] | None = None,
    ) -> None:  # fmt: skip
        self.fake = fake
        self.partitions = partitions
        self.groups = groups
        self.ids = ids
        self.sparse = sparse and ids
        self.multi = multi
        self.strays = strays or {}
        self.marked: set[int] = set()
        self.batch_number = -1
        self.rows: dict[int, list[int]] = {}
        self.lineage: dict[int, list[dict[str, Any]]] = {p: [] for p in range(partitions)}
        self.changes: dict[tuple[int, int], list[dict[str, Any]]] = {}
        fake.operator(partitions=partitions)
        self.schema()

    def schema(self) -> None:
        """Spark's schema file, version 2."""
        texts = b"".join(
            struct.pack(">iH", 1, len(it)) + it for it in map(_struct, ("id", "total"))
        )
        self.fake.write("state/0/0/_metadata/schema", struct.pack(">H", 2) + b"v2" + texts)

    def unique(self, partition: int, version: int) -> str:
        return f"id-{version}-{partition}" if self.ids else ""

    def batch(self, changes: dict[int, Any], *, snapshots: bool = False) -> int:
        """Changes rows: a number or list puts, None removes; returns the batch's number."""
        self.batch_number += 1
        version = self.batch_number + 1
        entries = [(key, it) for key, to in changes.items() if (it := self._change(key, to))]
        self.marked |= {self.strays[key] for key in changes if key in self.strays}
        ids = {}
        for partition in range(self.partitions):
            own = [it for key, it in entries if self.owner(key) == partition]
            ids[partition] = self.unique(partition, version)
            if self.sparse and version > 1 and not own and not snapshots:
                head = self.lineage[partition][0]
                ids[partition] = f"={head['version']}_{head['id']}"
                continue
            self._write(version, "delta", partition, own)
            self.changes[partition, version] = own
            if snapshots:
                rows = [self._put(key) for key in self.rows if self.owner(key) == partition]
                self._write(version, "snapshot", partition, rows)
            newest = link(
                version, "snapshot" if snapshots else "delta", self.unique(partition, version)
            )
            below = [] if snapshots else self.lineage[partition]
            self.lineage[partition] = [newest, *below]
        self.fake.start(self.batch_number, partitions=self.partitions)
        found = {0: [[ids[p]] for p in range(self.partitions)]}
        self.fake.commit(self.batch_number, found if self.ids else None)
        return self.batch_number

    def merge(self, base: int, partition: int, *, named: bool = True) -> Any:
        """Merges what a partition's newest delta and those before it, after `base`, have changed.

        The path of the merged delta. Unless it is `named`, later lineages have the deltas.
        """
        head, *older = self.lineage[partition]
        version, unique = head["version"], head["id"]
        merged: dict[str, dict[str, Any]] = {}
        for at in range(base + 1, version + 1):
            for entry in self.changes.get((partition, at), []):
                merged[entry["key"]] = _on_top(merged.get(entry["key"]), entry)
        below = [it for it in older if it["version"] <= base]
        assert below[0]["version"] == base
        path = self.path(version, f"{base}.merged", partition)
        entries = list(merged.values())
        path.write_bytes(self.file(version, "merged", partition, entries, lineage=older, base=base))
        if named:
            self.lineage[partition] = [link(version, "merged", unique, base), *below]
        return path

    def retain(self, oldest: int) -> None:
        """Deletes what versions from `oldest` on do not need, and Spark's log of older batches."""
        for partition, lineage in self.lineage.items():
            above = [it for it in lineage if it["kind"] == "delta" or it["version"] > oldest]
            base = [it for it in lineage if it not in above]
            kept = {self.path(it["version"], _ending(it), partition).name for it in base}
            for path in self.path(1, partition=partition).parent.glob("[0-9]*"):
                number = int(path.name.split("_")[0].split(".")[0])
                if number < base[0]["version"] and path.name not in kept:
                    path.unlink()
        for batch in range(oldest - 1):
            for log in ("commits", "offsets"):
                (self.fake.root / log / str(batch)).unlink()

    def owner(self, key: int) -> int:
        return self.strays.get(key, hash_of(key) % self.partitions)

    def path(self, version: int, kind: str = "delta", partition: int = 0) -> Any:
        unique = f"_{self.unique(partition, version)}" if self.ids else ""
        return self.fake.root / f"state/0/{partition}/{version}{unique}.{kind}"

    def file(
        self, version: int, kind: str, partition: int, entries: list[dict[str, Any]], **other: Any
    ) -> bytes:
        """Bytes of a file.

        `other` has `lineage`, `rows`, `head`, `base` or fields of the identity.
        """
        rows = other.pop("rows", None)
        base = other.pop("base", None)
        head = other.pop("head", None)
        if rows is None:
            rows = {k: v for k, v in self.rows.items() if self.owner(k) == partition}
        values = sum(map(len, rows.values()))
        counts = {"values": values, "multiValue": self.multi, "strays": partition in self.marked}
        described = family(0, "default", len(rows), 16 * (len(rows) + values), **counts)
        lineage = other.pop("lineage", self.lineage.get(partition, []))
        identity = {
            "version": version, "id": self.unique(partition, version), "partition": partition,
            "partitions": self.partitions, "keyGroups": self.groups,
        }  # fmt: skip
        entries = sorted(entries, key=lambda it: it["hash"] % self.groups)
        table, at = [], 0
        for number in sorted({it["hash"] % self.groups for it in entries}):
            run = [it for it in entries if it["hash"] % self.groups == number]
            size = sum(len(it["key"]) + sum(map(len, it["values"])) for it in run) // 2
            table.append(group(0, number, 0, at, len(run), size))
            at += len(run)
        return encode(
            spec(
                "",
                kind,
                identity | other,
                lineage=lineage,
                families=[described],
                blocks=[block(entries, "zstd")] if entries else [],
                groups=table,
                head=head,
                base=base,
            )
        )

    def _write(
        self, version: int, kind: str, partition: int, entries: list[dict[str, Any]]
    ) -> None:
        path = self.path(version, kind, partition)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.file(version, kind, partition, entries))

    def _change(self, key: int, value: Any) -> dict[str, Any] | None:
        if value is None:
            return remove(hash_of(key), bigint(key)) if self.rows.pop(key, None) else None
        if isinstance(value, tuple):
            self.rows[key] = [*self.rows.get(key, []), *value[1]]
            return append(hash_of(key), bigint(key), *map(bigint, value[1]))
        self.rows[key] = value if isinstance(value, list) else [value]
        return self._put(key)

    def _put(self, key: int) -> dict[str, Any]:
        return put(hash_of(key), bigint(key), *map(bigint, self.rows[key]))


def _struct(name: str) -> bytes:
    field = {"name": name, "type": "long", "nullable": True, "metadata": {}}
    return json.dumps({"type": "struct", "fields": [field]}).encode()


def _on_top(before: dict[str, Any] | None, entry: dict[str, Any]) -> dict[str, Any]:
    """The entry of a key that does what two do, one after the other."""
    if before is None or entry["type"] != "APPEND":
        return entry
    kind = "APPEND" if before["type"] == "APPEND" else "PUT"
    return before | {"type": kind, "values": [*before["values"], *entry["values"]]}


def _ending(it: dict[str, Any]) -> str:
    return f"{it['base']}.merged" if it["kind"] == "merged" else it["kind"]
