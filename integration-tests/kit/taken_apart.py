"""A file of Keyfold's taken apart, to be put together again with something else in it."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import google_crc32c
import pyarrow as pa

from kit.golden.lz4 import lz4_block

BLOCKS = 5
NONE, ZSTD, LZ4 = range(3)
NAMES = {ZSTD: "zstd", LZ4: "lz4_raw"}


@dataclass(frozen=True)
class TakenApart:
    """A file by docs/FORMAT.md, to be put together with right lengths, places and checksums.

    `sections` are code, flags and payload; `blocks` raw bytes. The table of blocks is written anew
    over the one that is there, as far as it has room, unless `stored` says what the blocks are.
    """

    kind: int
    flags: int
    sections: list[tuple[int, int, bytes]]
    blocks: list[bytes]
    codec: int
    stored: bytes | None = field(default=None)

    def together(self) -> bytes:
        """The file."""
        sections, stored = self.sections, self.stored
        if stored is None:
            table = next((it for code, _, it in sections if code == BLOCKS), b"")
            parts = [
                compressed(self._codec_of(table, number), raw)
                for number, raw in enumerate(self.blocks)
            ]
            stored = b"".join(parts)
            sections = [
                (code, flags, self._placed(it, parts) if code == BLOCKS else it)
                for code, flags, it in sections
            ]
        raw = b"".join(
            struct.pack("<HHI", code, flags, len(it)) + it for code, flags, it in sections
        )
        return self.framed(stored, compressed(self.codec, raw), len(raw), self.codec)

    def framed(self, stored: bytes, footer: bytes, raw_length: int, codec: int) -> bytes:
        """The file with a footer as it is stored, whatever it is."""
        head = b"KFLD" + struct.pack("<HBBI", 1, self.kind, self.flags, 0)
        body = head + checksum(head) + stored + footer
        tail = struct.pack("<QIIBB", len(body) + 32, len(footer), raw_length, codec, 0)
        tail += struct.pack("<HBBH", 1, self.kind, self.flags, 0)
        return body + tail + checksum(footer + tail) + b"DLFK"

    def _codec_of(self, table: bytes, number: int) -> int:
        at = 4 + len(self.blocks) * 2 + number
        return table[at] if at < len(table) and table[at] in NAMES else NONE

    def _placed(self, table: bytes, parts: list[bytes]) -> bytes:
        count = len(parts)
        if len(table) < 4 + count * 27:
            return table
        out, offset = bytearray(table), 16
        for number, part in enumerate(parts):
            struct.pack_into("<Q", out, 4 + count * 3 + number * 8, offset)
            struct.pack_into("<I", out, 4 + count * 11 + number * 4, len(part))
            struct.pack_into("<I", out, 4 + count * 15 + number * 4, len(self.blocks[number]))
            struct.pack_into("<I", out, 4 + count * 23 + number * 4, google_crc32c.value(part))
            offset += len(part)
        return bytes(out)


def taken_apart(content: bytes) -> TakenApart:
    """The parts of a file that is right."""
    end = len(content) - 32
    length, raw_length, codec = struct.unpack_from("<IIB", content, end + 8)
    raw = plain(codec, content[end - length : end], raw_length)
    sections, at = [], 0
    while at < len(raw):
        code, flags, size = struct.unpack_from("<HHI", raw, at)
        sections.append((code, flags, raw[at + 8 : at + 8 + size]))
        at += 8 + size
    table = next(it for code, _, it in sections if code == BLOCKS)
    (count,) = struct.unpack_from("<I", table)
    blocks = []
    for number in range(count):
        (offset,) = struct.unpack_from("<Q", table, 4 + count * 3 + number * 8)
        (size,) = struct.unpack_from("<I", table, 4 + count * 11 + number * 4)
        (whole,) = struct.unpack_from("<I", table, 4 + count * 15 + number * 4)
        codec_of = table[4 + count * 2 + number]
        blocks.append(plain(codec_of, content[offset : offset + size], whole))
    return TakenApart(content[6], content[7], sections, blocks, codec)


def compressed(codec: int, raw: bytes) -> bytes:
    """Stored bytes."""
    if codec == ZSTD:
        return bytes(pa.compress(raw, codec="zstd", asbytes=True))
    return lz4_block(raw) if codec == LZ4 else raw


def plain(codec: int, stored: bytes, length: int) -> bytes:
    """Raw bytes."""
    if codec == NONE:
        return stored
    return bytes(pa.decompress(stored, length, codec=NAMES[codec], asbytes=True))


def checksum(data: bytes) -> bytes:
    """As a u32."""
    return struct.pack("<I", google_crc32c.value(data))


def promising(promised: int, held: int) -> bytes:
    """A Zstandard frame that promises some bytes and holds `held` zeros: RFC 8878, 3.1.1."""
    frame = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", promised & 0xFFFFFFFFFFFFFFFF)
    return frame + (held << 3 | 3).to_bytes(3, "little") + b"\0"
