"""A Keyfold file as plain data, and the parts of it, for the encoder.

Keys and values are hex.
"""

from __future__ import annotations

from typing import Any

from kit.golden.encoder import Spec


def bigint(value: int) -> str:
    """Hex of an `UnsafeRow` of one BIGINT."""
    return (bytes(8) + value.to_bytes(8, "little", signed=True)).hex()


def string(value: str) -> str:
    """Hex of an `UnsafeRow` of one STRING."""
    data = value.encode()
    slot = len(data).to_bytes(4, "little") + (16).to_bytes(4, "little")
    return (bytes(8) + slot + data + bytes(-len(data) % 8)).hex()


def put(hashed: int, key: str, *values: str, checksum: int | None = None) -> Spec:
    """A PUT."""
    return _entry("PUT", hashed, key, list(values), checksum)


def append(hashed: int, key: str, *values: str, checksum: int | None = None) -> Spec:
    """An APPEND."""
    return _entry("APPEND", hashed, key, list(values), checksum)


def remove(hashed: int, key: str, checksum: int | None = None) -> Spec:
    """A REMOVE."""
    return _entry("REMOVE", hashed, key, [], checksum)


def _entry(kind: str, hashed: int, key: str, values: list[str], checksum: int | None) -> Spec:
    entry: Spec = {"type": kind, "hash": hashed, "key": key, "values": values}
    return entry if checksum is None else entry | {"checksum": checksum}


def link(version: int, kind: str, unique: str = "", base: int | None = None) -> Spec:
    """An element of a lineage; only a merged delta has a base."""
    found: Spec = {"version": version, "kind": kind, "id": unique}
    return found if base is None else found | {"base": base}


def group(family: int, number: int, block: int, index: int, entries: int, size: int) -> Spec:
    """A row of the group table and the place that follows from it; `size` is in bytes."""
    return {
        "family": family,
        "group": number,
        "block": block,
        "index": index,
        "entries": entries,
        "bytes": size,
    }


def family(number: int, name: str, keys: int, size: int, **other: Any) -> Spec:
    """A column family of single BIGINT-like rows unless `other` says otherwise."""
    return {
        "family": number,
        "name": name,
        "internal": False,
        "multiValue": False,
        "ordered": False,
        "keyEncoding": "row",
        "rowEncoding": "unsaferow",
        "partitionKey": "all",
        "keySchemaId": 0,
        "valueSchemaId": 0,
        "strays": False,
        "rescaled": False,
        "keys": keys,
        "values": keys,
        "bytes": size,
    } | other


def block(entries: list[Spec], codec: str = "none", number: int = 0) -> Spec:
    """A block of family `number`."""
    return {"family": number, "codec": codec, "entries": entries}


def spec(path: str, kind: str, identity: Spec, **other: Any) -> Spec:
    """A file; what `identity` leaves out is that of partition 3 of 4, 24 key groups."""
    base: Spec = {
        "file": f"valid/{path}",
        "kind": kind,
        "rowChecksums": False,
        "footerCodec": "none",
        "identity": {
            "id": "",
            "operator": 0,
            "partition": 3,
            "store": "default",
            "partitions": 4,
            "keyGroups": 24,
            "created": 1700000000000,
            "writer": "golden 1",
        }
        | identity,
        "lineage": [],
        "families": [],
        "dropped": [],
        "blocks": [],
        "groups": [],
        "references": None,
        "head": None,
        "continued": 0,
        "base": None,
    }
    return base | other
