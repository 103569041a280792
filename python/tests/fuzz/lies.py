"""Changes of Keyfold's files under right checksums: a bug of a writer, or bad will."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable
from dataclasses import replace
from random import Random

from kit.taken_apart import (
    BLOCKS,
    LZ4,
    NONE,
    ZSTD,
    TakenApart,
    checksum,
    compressed,
    promising,
)

NUMBERS = [
    *(0, 1, 2, 3, 255, 256, 0xFFFF, 0x10000, 1 << 20, 1 << 24),
    *(-1, -2, 1 << 30, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFFF0),
    *((1 << 63) - 1, -(1 << 63), 1 << 32, 1 << 62),
]
TEXTS = [
    *(
        "..",
        ".",
        "",
        "/",
        "../../../../etc/x",
        "/etc/x",
        "a/../../b",
        "0/1/../2",
        "state/0/1/../2",
        "C:\\x",
    ),
    *("\0", "a\0b", "\x1b[2J", "<script>x</script>", "\u202e", "\U0001f600", "[/red]", "$\\frac$"),
    *("default", "x", "row", "avro", "all", "none", "constant", "_hidden", "a\nb", "x" * 0xFFFF),
    *("prefix:99999999999", "prefix:9", "range:9", "range:0,0", "first:9", "path:9.9", "path:0.1"),
    *("timestampPrefix", "prefix:0", "range:" + "9" * 5000, "first:" + "9" * 5000),
]


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
            known = {code for code, _, _ in file.sections}
            codes = itertools.count(random.randrange(100, 0xFF00))
            code = next(it for it in codes if it not in known)
            later = (code, 0, bytes(random.randrange(50)))
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
