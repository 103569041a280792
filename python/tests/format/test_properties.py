"""Any file that the encoder can write is read back; any damage to a file is noticed."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from keyfold.errors import KeyfoldError
from keyfold.format.reader import read_footer
from keyfold.format.source import BytesSource
from kit.golden import spec as golden
from kit.golden.encoder import crc32c, encode
from kit.golden.files import GOLDEN
from kit.golden.valid import VALID
from kit.state_files import entries, groups, read_columns

FILES = {it["file"]: (GOLDEN / it["file"]).read_bytes() for it in VALID}


@st.composite
def entries_of_group(draw: st.DrawFn, group: int, groups: int, *, multi: bool) -> list[Any]:
    made = []
    for _ in range(draw(st.integers(1, 4))):
        key = draw(st.binary(max_size=20))
        kind = draw(st.sampled_from(["PUT", "REMOVE", *(["APPEND"] if multi else [])]))
        most = 0 if kind == "REMOVE" else 3 if multi else 1
        values = draw(st.lists(st.binary(max_size=40), min_size=min(most, 1), max_size=most))
        turn = draw(st.integers(-(2**31) // groups + 1, 2**31 // groups - 2))
        made.append(
            {
                "type": kind,
                "hash": group + groups * turn,
                "key": key.hex(),
                "values": [value.hex() for value in values],
                "checksum": crc32c(key + b"".join(values)),
            }
        )
    return made


@st.composite
def deltas(draw: st.DrawFn) -> dict[str, Any]:
    """A delta of up to 3 families, with blocks cut anywhere."""
    key_groups = draw(st.integers(1, 50))
    families, blocks, groups = [], [], []
    for number in range(draw(st.integers(0, 3))):
        multi = draw(st.booleans())
        families.append(golden.family(number, f"family {number}", 1, 1, multiValue=multi))
        numbers = draw(st.lists(st.integers(0, key_groups - 1), max_size=4, unique=True))
        runs = [draw(entries_of_group(it, key_groups, multi=multi)) for it in numbers]
        entries = iter([entry for run in runs for entry in run])
        cuts = []
        while block := list(islice(entries, draw(st.integers(1, 6)))):
            codec = draw(st.sampled_from(["none", "zstd", "lz4"]))
            cuts += [(len(blocks), index) for index in range(len(block))]
            blocks.append(golden.block(block, codec, number))
        at = 0
        for group, run in zip(numbers, runs, strict=True):
            size = sum(len(e["key"]) + sum(map(len, e["values"])) for e in run) // 2
            groups.append(golden.group(number, group, *cuts[at], len(run), size))
            at += len(run)
    return golden.spec(
        "x/9.delta",
        "delta",
        {"version": 9, "keyGroups": key_groups},
        rowChecksums=draw(st.booleans()),
        footerCodec=draw(st.sampled_from(["none", "zstd", "lz4"])),
        families=families,
        blocks=blocks,
        groups=groups,
    )


@settings(max_examples=60, deadline=None)
@given(deltas())
def test_what_is_written_is_read(spec: dict[str, Any]) -> None:
    footer, blocks = read_columns(BytesSource("9.delta", encode(spec)))
    assert groups(footer) == spec["groups"]
    written = [
        (it["type"], it["hash"], it["key"], it["values"])
        for block in spec["blocks"]
        for it in block["entries"]
    ]
    assert written == [
        (it.type.name, it.hash, it.key.hex(), [value.hex() for value in it.values])
        for block in blocks
        for it in entries(block)
    ]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(FILES)), st.data())
def test_no_flipped_bit_goes_unnoticed(file: str, data: st.DataObject) -> None:
    content = bytearray(FILES[file])
    at = data.draw(st.integers(0, len(content) - 1), label="byte")
    content[at] ^= data.draw(st.integers(1, 255), label="mask")
    refuses(file, bytes(content))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(FILES)), st.data())
def test_no_cut_or_longer_file_goes_unnoticed(file: str, data: st.DataObject) -> None:
    content = FILES[file]
    size = data.draw(st.integers(0, len(content) - 1), label="size")
    refuses(file, content[:size])
    refuses(file, content + data.draw(st.binary(min_size=1, max_size=50), label="more"))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=400))
def test_no_bytes_are_read_by_accident(content: bytes) -> None:
    refuses("7.delta", content)


def refuses(file: str, content: bytes) -> None:
    """Checks that a full read fails, and that a read of the footer fails or says what it said."""
    source = BytesSource(file, content)
    try:
        read_columns(source)
    except KeyfoldError:
        pass
    else:
        raise AssertionError("damage went unnoticed")
    try:
        footer = read_footer(source)
    except KeyfoldError:
        return
    whole = read_footer(BytesSource(file, FILES[file]))
    assert groups(footer) == groups(whole)
    assert replace(footer, groups=whole.groups) == whole
