"""Changes of Keyfold's files under right checksums: a bug of a writer, or bad will."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

import google_crc32c
import pyarrow as pa

from golden_lz4 import lz4_block

BLOCKS = 5
NONE, ZSTD, LZ4 = range(3)
NAMES = {ZSTD: "zstd", LZ4: "lz4_raw"}

NUMBERS = [
    *(0, 1, 2, 3, 255, 256, 0xFFFF, 0x10000, 1 << 20, 1 << 24),
    *(-1, -2, 1 << 30, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFFF0),
    *((1 << 63) - 1, -(1 << 63), 1 << 32, 1 << 62),
]
TEXTS = [
    *("..", ".", "", "/", "../../../../etc/x", "/etc/x", "a/../../b", "0/1/../2", "C:\\x"),
    *("\0", "a\0b", "\x1b[2J", "<script>x</script>", "\u202e", "\U0001f600", "[/red]", "$\\frac$"),
    *("default", "x", "row", "avro", "all", "none", "constant", "_hidden", "a\nb", "x" * 0xFFFF),
    *("prefix:99999999999", "prefix:9", "range:9", "range:0,0", "first:9", "path:9.9", "path:0.1"),
    *("timestampPrefix", "prefix:0", "range:" + "9" * 5000, "first:" + "9" * 5000),
]


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


def lie(random: Random, file: TakenApart) -> tuple[str, bytes]:
    """A change, in words, and the file with it."""
    makers: list[Callable[[Random, TakenApart], tuple[str, bytes]]] = [
        *[_in_section] * 10,
        *[_in_block] * 6,
        *[_of_sections] * 2,
        _of_frame,
        _of_footer_length,
        _of_block_length,
    ]
    return random.choice(makers)(random, file)


def harmless(random: Random, file: TakenApart) -> tuple[str, bytes]:
    """A change that changes nothing of what the file holds."""
    match random.randrange(3):
        case 0:
            return "reversed", replace(file, sections=file.sections[::-1]).together()
        case 1:
            codec = random.choice([NONE, ZSTD, LZ4])
            return f"footer of codec {codec}", replace(file, codec=codec).together()
        case _:
            later = (random.randrange(100, 0x10000), 0, bytes(random.randrange(50)))
            return f"section {later}", replace(file, sections=[later, *file.sections]).together()


def _in_section(random: Random, file: TakenApart) -> tuple[str, bytes]:
    number = random.randrange(len(file.sections))
    code, flags, payload = file.sections[number]
    change = _text if random.randrange(4) == 0 else edited
    what, payload = change(random, payload)
    sections = [*file.sections]
    sections[number] = (code, flags, payload)
    return f"section {code}: {what}", replace(file, sections=sections).together()


def _in_block(random: Random, file: TakenApart) -> tuple[str, bytes]:
    if not file.blocks:
        return _in_section(random, file)
    number = random.randrange(len(file.blocks))
    what, raw = edited(random, file.blocks[number])
    blocks = [*file.blocks]
    blocks[number] = raw
    return f"block {number}: {what}", replace(file, blocks=blocks).together()


def _of_sections(random: Random, file: TakenApart) -> tuple[str, bytes]:
    sections = [*file.sections]
    number = random.randrange(len(sections))
    code, flags, payload = sections[number]
    what = random.choice(["gone", "twice", "code", "flags"])
    if what == "gone":
        del sections[number]
    elif what == "twice":
        sections.insert(number, sections[number])
    elif what == "code":
        sections[number] = (random.choice(NUMBERS) & 0xFFFF, flags, payload)
    else:
        sections[number] = (code, random.choice(NUMBERS) & 0xFFFF, payload)
    return f"section {code}: {what}", replace(file, sections=sections).together()


def _of_frame(random: Random, file: TakenApart) -> tuple[str, bytes]:
    if random.randrange(2):
        kind = random.choice([0, 1, 2, 3, 5, 255])
        return f"kind {kind}", replace(file, kind=kind).together()
    flags = random.choice([0, 1, 2, 255])
    return f"flags {flags}", replace(file, flags=flags).together()


def _of_footer_length(random: Random, file: TakenApart) -> tuple[str, bytes]:
    promised, codec = random.choice(NUMBERS) & 0xFFFFFFFF, random.choice([NONE, ZSTD, LZ4])
    stored = promising(promised, 300) if codec == ZSTD else compressed(codec, bytes(300))
    return f"footer of {promised}", file.framed(b"", stored, promised, codec)


def _of_block_length(random: Random, file: TakenApart) -> tuple[str, bytes]:
    promised = random.choice(NUMBERS) & 0xFFFFFFFF
    stored = promising(promised, 300)
    table = struct.pack("<IHBQIII", 1, 0, ZSTD, 16, len(stored), promised, 1) + checksum(stored)
    sections = [(c, f, table if c == BLOCKS else it) for c, f, it in file.sections]
    return f"block of {promised}", replace(file, sections=sections, stored=stored).together()


def edited(random: Random, data: bytes) -> tuple[str, bytes]:
    """Some bytes overwritten, flipped, taken away or added."""
    at = random.randrange(max(len(data), 1))
    kind = random.randrange(18)
    if kind < 11:
        at = at if kind < 8 else random.choice([0, 2, 4])
        chosen = random.choice([*NUMBERS, random.randrange(300)])
        number = struct.pack("<Q", chosen & 0xFFFFFFFFFFFFFFFF)[: random.choice([1, 2, 4, 8])]
        return f"{number.hex()} at {at}", data[:at] + number + data[at + len(number) :]
    if kind < 14 and data:
        bit = 1 << random.randrange(8)
        return f"flip {bit} at {at}", data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]
    count = random.randrange(1, 64)
    if kind < 16:
        return f"{count} less at {at}", data[:at] + data[at + count :]
    start = random.randrange(max(len(data), 1))
    return f"{count} of {start} at {at}", data[:at] + data[start : start + count] + data[at:]


def _text(random: Random, data: bytes) -> tuple[str, bytes]:
    """What looks like a `str`, replaced."""
    places = []
    for at in range(len(data) - 2):
        size = int.from_bytes(data[at : at + 2], "little")
        text = data[at + 2 : at + 2 + size]
        if 0 < size == len(text) < 80 and text.isascii() and text.decode().isprintable():
            places.append((at, size))
    if not places:
        return edited(random, data)
    at, size = random.choice(places)
    text = random.choice(TEXTS)
    new = text.encode()
    changed = data[:at] + struct.pack("<H", len(new)) + new + data[at + 2 + size :]
    return f"text {text[:30]!r} at {at}", changed
