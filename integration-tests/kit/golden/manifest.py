"""The golden manifests: what they hold as plain data, and their encoder.

The valid one is of a rescale from 4 to 6 partitions. Of a rescale from 2 to 4 before it,
partition 1 has no snapshot yet.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kit.golden.edits import flip
from kit.golden.encoder import KINDS, Spec, base, compress, crc32c, text

PLAN = "0b9c2f1a-3f5e"
VALID = f"valid/manifest/rescale-30-{PLAN}.manifest"
CORRUPT = "KEYFOLD_FILE_CORRUPT"


def file(
    path: str, kind: str, version: int, length: int, unique: str = "", base: int | None = None
) -> Spec:
    """A file; only a merged delta has a base."""
    found: Spec = {"path": path, "kind": kind, "version": version, "id": unique, "length": length}
    return found if base is None else found | {"base": base}


def had(partition: int, *files: Spec, on_top: bool = False) -> Spec:
    """What a partition had."""
    return {"partition": partition, "onTop": on_top, "files": list(files)}


def part(partitions: int, *members: Spec, codec: str = "none") -> Spec:
    """A part of a layer of so many partitions."""
    return {"codec": codec, "partitions": partitions, "members": list(members)}


PARTS = [
    part(2),
    part(
        2,
        had(
            1,
            file("state/0/1/20.snapshot", "snapshot", 20, 70000),
            file("state/0/1/21_f2f1d7a6.delta", "delta", 21, 5000000000, "f2f1d7a6"),
            file("state/0/1/27_77a1e90b.21.merged", "merged", 27, 700, "77a1e90b", base=21),
        ),
        codec="lz4",
    ),
    part(4, had(0, file("state/0/0/30.snapshot", "snapshot", 30, 900)), had(2)),
    part(
        4,
        had(1, file("state/0/1/30.delta", "delta", 30, 400), on_top=True),
        had(
            3,
            file("state/0/3/29.snapshot", "snapshot", 29, 800),
            file("state/0/3/30.delta", "delta", 30, 410),
        ),
    ),
]


def named_file(it: Spec) -> bytes:
    """A file in a part."""
    named = text(it["path"]) + struct.pack("<Bq", KINDS[it["kind"]], it["version"])
    return named + text(it["id"]) + base(it) + struct.pack("<Q", it["length"])


def raw_part(it: Spec) -> bytes:
    """Raw bytes of a part."""
    raw = struct.pack("<iI", it["partitions"], len(it["members"]))
    for each in it["members"]:
        raw += struct.pack("<iBI", each["partition"], each["onTop"], len(each["files"]))
        raw += b"".join(named_file(named) for named in each["files"])
    return raw


def manifest(raws: list[tuple[str, bytes]]) -> tuple[bytes, list[Spec]]:
    """A manifest of parts, each with its codec, and where they are."""
    head = b"KFLD" + struct.pack("<HBBI", 1, 4, 0, 0)
    content, places = head + struct.pack("<I", crc32c(head)), []
    for codec, raw in raws:
        stored = compress(codec, raw)
        place = {"offset": len(content), "codec": codec, "storedLength": len(stored)}
        places.append(place | {"rawLength": len(raw), "checksum": crc32c(stored)})
        content += stored
    return content, places


CONTENT, PLACES = manifest([(it["codec"], raw_part(it)) for it in PARTS])


@dataclass(frozen=True)
class BrokenManifest:
    """A manifest whose last part, at `place`, a reader must refuse."""

    file: str
    content: bytes
    place: Spec
    why: str


def _of(name: str, why: str, raw: bytes) -> BrokenManifest:
    content, places = manifest([("none", raw)])
    return BrokenManifest(
        f"broken/manifest-{name}/rescale-30-{PLAN}.manifest", content, places[0], why
    )


def _edited(name: str, why: str, edit: Callable[[bytearray], None]) -> BrokenManifest:
    raw = bytearray(raw_part(PARTS[-1]))
    edit(raw)
    return _of(name, why, bytes(raw))


def _naming(name: str, why: str, **fields: Any) -> BrokenManifest:
    named = file("state/0/1/28.snapshot", "snapshot", 28, 70000) | fields
    return _of(name, why, raw_part(part(4, had(1, named))))


def _packed(code: str, offset: int, value: int) -> Callable[[bytearray], None]:
    return lambda raw: struct.pack_into(code, raw, offset, value)


def broken_manifests() -> list[BrokenManifest]:
    """Every broken manifest."""
    one = len(raw_part(part(4, PARTS[-1]["members"][0])))
    path = f"rescale-30-{PLAN}.manifest"
    last = PLACES[-1]
    merged = {"path": "state/0/1/28_a.27.merged", "kind": "merged", "id": "a", "base": 26}
    itself = {"path": "state/0/1/28_a.28.merged", "base": 28}
    nothing = {"path": "state/0/1/28_a.0.merged", "base": 0}
    return [
        BrokenManifest(
            f"broken/manifest-flip/{path}", flip(CONTENT, last["offset"] + 3), last, "in the part"
        ),
        BrokenManifest(
            f"broken/manifest-cut/{path}", CONTENT[:-1], last, "the last byte is missing"
        ),
        BrokenManifest(
            f"broken/manifest-huge/{path}",
            CONTENT,
            last | {"rawLength": 2147483647, "codec": "lz4"},
            "raw length is 2147483647",
        ),
        _edited("order", "partition 1 after partition 1", _packed("<i", one, 1)),
        _edited("range", "partition 4 of 4", _packed("<i", one, 4)),
        _edited("stands", "a partition stands on 2", _packed("<B", 12, 2)),
        _edited("partitions-past-end", "4294967295 partitions", _packed("<I", 4, 0xFFFFFFFF)),
        _edited("files-past-end", "4294967295 files", _packed("<I", 13, 0xFFFFFFFF)),
        _naming(
            "path-outside", "a path is 'state/../0/1/28.snapshot'", path="state/../0/1/28.snapshot"
        ),
        _naming("path-of-another", "a path is of another version", path="state/0/1/29.snapshot"),
        _naming("kind", "it names a reference", path="state/0/1/28.ref", kind="reference"),
        _naming("base", "a path is of another base", **merged),
        _naming("base-of-itself", "a version is its own base", **merged | itself),
        _naming("base-of-nothing", "version 0 is the base", **merged | nothing),
        _edited("left-over", "a byte too many", lambda raw: raw.append(0)),
    ]
