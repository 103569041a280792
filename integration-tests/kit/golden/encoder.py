"""Encoder of Keyfold files that shares no code with any reader or writer of the project.

It writes what it is told, right or wrong, so that one encoder serves valid and broken golden files.
Its input is the plain data of `spec.py`; `docs/FORMAT.md` is its only source.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kit.golden.lz4 import lz4_block

FORMAT_VERSION = 1
HEADER_BYTES = 16
TRAILER_BYTES = 32
KINDS = {"delta": 1, "snapshot": 2, "reference": 3, "merged": 5}
CODECS = {"none": 0, "zstd": 1, "lz4": 2}
TYPES = {"PUT": 1, "APPEND": 2, "REMOVE": 3}

IDENTITY, LINEAGE, FAMILIES, DROPPED, BLOCKS, GROUPS, PARTS, HEAD = range(1, 9)
CONTINUED, BASE = 9, 10

Spec = dict[str, Any]


@dataclass
class Section:
    """One footer section."""

    code: int
    payload: bytes
    flags: int = 1


@dataclass
class Parts:
    """A file before its checksums and lengths are known; broken files change it here.

    `stored` holds the stored bytes of each block.
    """

    kind: int
    flags: int
    stored: list[bytes]
    sections: list[Section]
    footer_codec: str


def encode(spec: Spec) -> bytes:
    """Bytes of the file that `spec` describes."""
    return assemble(parts_of(spec))


def parts_of(spec: Spec) -> Parts:
    """Blocks and sections of the file that `spec` describes, sections in code order."""
    checksums = spec["rowChecksums"]
    raws = [raw_block(block["entries"], with_checksums=checksums) for block in spec["blocks"]]
    stored = [
        compress(block["codec"], raw) for block, raw in zip(spec["blocks"], raws, strict=True)
    ]
    sections = [
        Section(IDENTITY, identity(spec["identity"])),
        Section(LINEAGE, lineage(spec["lineage"])),
        Section(FAMILIES, families(spec["families"])),
        Section(BLOCKS, blocks(spec["blocks"], raws, stored)),
        Section(GROUPS, groups(spec["groups"])),
    ]
    if spec["kind"] in {"delta", "merged"}:
        sections.insert(3, Section(DROPPED, dropped(spec["dropped"])))
    if spec["kind"] == "reference":
        sections.append(Section(PARTS, parts(spec["references"])))
    if spec["head"] is not None:
        sections.append(Section(HEAD, head(spec["head"]), flags=0))
    if spec["continued"]:
        sections.append(Section(CONTINUED, struct.pack("<I", spec["continued"])))
    if spec["base"] is not None:
        sections.append(Section(BASE, struct.pack("<q", spec["base"])))
    return Parts(KINDS[spec["kind"]], int(checksums), stored, sections, spec["footerCodec"])


def assemble(parts: Parts) -> bytes:
    """Header, blocks, footer and trailer, with right lengths and checksums."""
    raw = b"".join(
        struct.pack("<HHI", s.code, s.flags, len(s.payload)) + s.payload for s in parts.sections
    )
    footer = compress(parts.footer_codec, raw)
    head = b"KFLD" + struct.pack("<HBBI", FORMAT_VERSION, parts.kind, parts.flags, 0)
    body = head + bytes(4) + b"".join(parts.stored) + footer
    length = len(body) + TRAILER_BYTES
    tail = struct.pack("<QIIBB", length, len(footer), len(raw), CODECS[parts.footer_codec], 0)
    tail += struct.pack("<HBBH", FORMAT_VERSION, parts.kind, parts.flags, 0)
    return sealed(body + tail + bytes(4) + b"DLFK")


def sealed(content: bytes) -> bytes:
    """A file with the checksums of its header and trailer set right."""
    end = len(content) - TRAILER_BYTES
    (footer_length,) = struct.unpack_from("<I", content, end + 8)
    mended = bytearray(content)
    struct.pack_into("<I", mended, 12, crc32c(content[:12]))
    struct.pack_into("<I", mended, end + 24, crc32c(content[end - footer_length : end + 24]))
    return bytes(mended)


def raw_block(entries: list[Spec], *, with_checksums: bool) -> bytes:
    """Raw bytes of a block. A row checksum is written as the entry's `checksum` says."""
    keys = [bytes.fromhex(e["key"]) for e in entries]
    values = [[bytes.fromhex(v) for v in e["values"]] for e in entries]
    flat = [v for each in values for v in each]
    raw = struct.pack("<II", len(entries), len(flat))
    raw += column("i", [e["hash"] for e in entries])
    raw += column("I", [len(k) for k in keys])
    raw += column("I", [len(each) for each in values])
    raw += column("I", [len(v) for v in flat])
    if with_checksums:
        raw += column("I", [e["checksum"] for e in entries])
    raw += column("B", [TYPES[e["type"]] for e in entries])
    return raw + b"".join(keys) + b"".join(flat)


def compress(codec: str, raw: bytes) -> bytes:
    """Stored bytes of a block or a footer."""
    if codec == "zstd":
        return bytes(pa.compress(raw, codec="zstd", asbytes=True))
    return lz4_block(raw) if codec == "lz4" else raw


def identity(it: Spec) -> bytes:
    """Payload of section 1."""
    return (
        struct.pack("<q", it["version"])
        + text(it["id"])
        + struct.pack("<qi", it["operator"], it["partition"])
        + text(it["store"])
        + struct.pack("<iiq", it["partitions"], it["keyGroups"], it["created"])
        + text(it["writer"])
    )


def lineage(links: list[Spec]) -> bytes:
    """Payload of section 2."""
    return struct.pack("<I", len(links)) + b"".join(
        struct.pack("<qB", link["version"], KINDS[link["kind"]]) + text(link["id"]) + base(link)
        for link in links
    )


def base(it: Spec) -> bytes:
    """What follows the id of a merged delta, and of nothing else."""
    return struct.pack("<q", it["base"]) if it["kind"] == "merged" else b""


def families(items: list[Spec]) -> bytes:
    """Payload of section 3."""
    payload = struct.pack("<H", len(items))
    for it in items:
        flags = it["internal"] | it["multiValue"] << 1 | it["ordered"] << 2
        flags |= it["strays"] << 3 | it["rescaled"] << 4
        payload += struct.pack("<H", it["family"]) + text(it["name"]) + struct.pack("<B", flags)
        payload += text(it["keyEncoding"]) + text(it["rowEncoding"]) + text(it["partitionKey"])
        payload += struct.pack("<ii", it["keySchemaId"], it["valueSchemaId"])
        payload += struct.pack("<qqq", it["keys"], it["values"], it["bytes"])
    return payload


def dropped(names: list[str]) -> bytes:
    """Payload of section 4."""
    return struct.pack("<H", len(names)) + b"".join(text(name) for name in names)


def blocks(items: list[Spec], raws: list[bytes], stored: list[bytes]) -> bytes:
    """Payload of section 5; blocks lie back to back behind the header."""
    offsets = [HEADER_BYTES + sum(len(s) for s in stored[:i]) for i in range(len(stored))]
    return (
        struct.pack("<I", len(items))
        + column("H", [it["family"] for it in items])
        + column("B", [CODECS[it["codec"]] for it in items])
        + column("Q", offsets)
        + column("I", [len(s) for s in stored])
        + column("I", [len(r) for r in raws])
        + column("I", [len(it["entries"]) for it in items])
        + column("I", [crc32c(s) for s in stored])
    )


def groups(items: list[Spec]) -> bytes:
    """Payload of section 6. Where a group begins is for the reader to find out."""
    return (
        struct.pack("<I", len(items))
        + column("H", [it["family"] for it in items])
        + column("I", [it["group"] for it in items])
        + column("I", [it["entries"] for it in items])
        + column("Q", [it["bytes"] for it in items])
    )


def parts(it: Spec) -> bytes:
    """Payload of section 7."""
    payload = text(it["plan"]) + struct.pack("<I", len(it["parts"]))
    for part in it["parts"]:
        payload += struct.pack("<QB", part["offset"], CODECS[part["codec"]])
        payload += struct.pack("<III", part["storedLength"], part["rawLength"], part["checksum"])
    return payload


def head(it: Spec) -> bytes:
    """Payload of section 8."""
    return struct.pack("<QI", it["length"], it["checksum"])


def fingerprint(spec: Spec) -> Spec:
    """What section 8 says of the file that `spec` describes."""
    content = encode(spec)
    (checksum,) = struct.unpack_from("<I", content, len(content) - 8)
    return {"length": len(content), "checksum": checksum}


def text(value: str) -> bytes:
    """A `str` of the format."""
    data = value.encode()
    return struct.pack("<H", len(data)) + data


def column(code: str, numbers: list[int]) -> bytes:
    """A column of integers; `code` is struct's."""
    return struct.pack(f"<{len(numbers)}{code}", *numbers)


def crc32c(data: bytes) -> int:
    """CRC-32C, bit by bit: slow, short and independent."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
