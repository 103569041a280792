"""Every broken golden file: how it is made, and the condition a reader must refuse it with.

`found` says which reader sees it at the latest: `footer` one that reads only trailer and footer,
`file` one that reads header and all blocks. All changes but flipped bits and cuts carry right
checksums, so that what is tested is the check behind the checksum.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kit.golden.edits import (
    FOOTER_RAW_LENGTH,
    changed,
    flip,
    footer_start,
    framed,
    overwrite,
    raw_length,
    section,
)
from kit.golden.encoder import (
    BASE,
    BLOCKS,
    DROPPED,
    FAMILIES,
    GROUPS,
    HEAD,
    HEADER_BYTES,
    IDENTITY,
    KINDS,
    LINEAGE,
    PARTS,
    TRAILER_BYTES,
    Parts,
    Section,
    Spec,
    assemble,
    blocks,
    encode,
    parts_of,
    raw_block,
    sealed,
)
from kit.golden.encoder import CONTINUED as CODE_OF_CONTINUED
from kit.golden.manifest import CORRUPT, PLAN
from kit.golden.spec import group, link, remove
from kit.golden.valid import (
    CONTINUED,
    DELTA,
    MERGED,
    MERGED_DELTA,
    MULTI_VALUE,
    REFERENCE,
    ROW_CHECKSUMS,
    SNAPSHOT_LZ4,
    SNAPSHOT_OF_HEAD,
    UNCHANGED,
)

LAST = MERGED[-1]
VERSION = "KEYFOLD_FORMAT_VERSION"
FOREIGN = "KEYFOLD_NOT_A_KEYFOLD_FILE"

# Offsets of fields, those of the trailer from the end of the file.
HEADER_VERSION, HEADER_KIND, HEADER_FLAGS, HEADER_RESERVED = 4, 6, 7, 8
FOOTER_CODEC, TRAILER_RESERVED = -16, -15
TRAILER_VERSION, TRAILER_FLAGS, TRAILER_RESERVED_TOO = -14, -11, -10


@dataclass(frozen=True)
class Broken:
    """A broken file; `file` is relative to the golden folder."""

    file: str
    content: bytes
    condition: str
    found: str
    why: str


def broken_files() -> list[Broken]:
    """Every broken file."""
    return [
        *_cut(),
        *_flipped(),
        *_wrong_name(),
        *_wrong_frame(),
        *_reserved(),
        *_wrong_footer_frame(),
        *_wrong_footer(),
        *_wrong_head(),
        *_wrong_parts(),
        *_wrong_places(),
        *_wrong_block(),
        *_wrong_continued(),
        *_upwards(),
        *_wrong_merged(),
        *_lies(),
    ]


def _delta(name: str, content: bytes, condition: str, found: str, why: str) -> Broken:
    return Broken(f"broken/{name}/7.delta", content, condition, found, why)


def _cut() -> list[Broken]:
    whole = encode(DELTA)
    footer = footer_start(whole)
    cuts = {
        "cut-to-nothing": 0,
        "cut-in-magic": 3,
        "cut-in-header": 10,
        "cut-in-block": HEADER_BYTES + 60,
        "cut-in-footer": footer + 20,
        "cut-in-trailer": len(whole) - 9,
    }
    return [
        _delta(name, whole[:size], CORRUPT, "footer", f"only the first {size} bytes are there")
        for name, size in cuts.items()
    ]


def _flipped() -> list[Broken]:
    whole = encode(DELTA)
    size = len(whole)
    flips = {
        "flip-in-header": (9, "file"),
        "flip-in-block": (HEADER_BYTES + 70, "file"),
        "flip-in-footer": (footer_start(whole) + 30, "footer"),
        "flip-in-trailer-length": (size - TRAILER_BYTES + 1, "footer"),
        "flip-in-trailer-checksum": (size - 6, "footer"),
        "flip-in-trailer-magic": (size - 1, "footer"),
    }
    return [
        _delta(name, flip(whole, at), CORRUPT, found, f"bit 3 of byte {at} is flipped")
        for name, (at, found) in flips.items()
    ]


def _wrong_name() -> list[Broken]:
    whole = encode(DELTA)
    return [
        Broken("broken/name-version/9.delta", whole, CORRUPT, "footer", "holds version 7"),
        Broken("broken/name-id/7_abc.delta", whole, CORRUPT, "footer", "holds the empty id"),
        Broken("broken/name-kind/7.snapshot", whole, CORRUPT, "footer", "holds a delta"),
    ]


def _wrong_frame() -> list[Broken]:
    whole = encode(DELTA)
    newer = framed(framed(whole, HEADER_VERSION, "<H", 2), TRAILER_VERSION, "<H", 2)
    other_kind = framed(whole, HEADER_KIND, "<B", KINDS["snapshot"])
    other_flags = framed(whole, HEADER_FLAGS, "<B", 1)
    foreign = b"LZ4Block" + bytes(range(64))
    return [
        _delta("newer-format", newer, VERSION, "footer", "format version 2"),
        _delta("foreign", foreign, FOREIGN, "footer", "an LZ4 stream of another provider"),
        _delta("foreign-short", foreign[:40], FOREIGN, "footer", "the same, 40 bytes long"),
        _delta("kinds-differ", other_kind, CORRUPT, "file", "header: snapshot"),
        _delta("flags-differ", other_flags, CORRUPT, "file", "header: checksums"),
    ]


def _reserved() -> list[Broken]:
    def section_flags(parts: Parts) -> None:
        section(parts, LINEAGE).flags = 3

    def family_flags(parts: Parts) -> None:
        overwrite(section(parts, FAMILIES), 2 + 2 + 2 + len("default"), "<B", 32)

    whole = encode(DELTA)
    flags = framed(framed(whole, HEADER_FLAGS, "<B", 2), TRAILER_FLAGS, "<B", 2)
    header = framed(whole, HEADER_RESERVED, "<I", 1)
    trailer = framed(whole, TRAILER_RESERVED, "<B", 1)
    trailer_too = framed(whole, TRAILER_RESERVED_TOO, "<H", 1)
    of_section, of_family = changed(DELTA, section_flags), changed(DELTA, family_flags)
    return [
        _delta("reserved-flags", flags, CORRUPT, "footer", "bit 1 of the flags"),
        _delta("reserved-in-header", header, CORRUPT, "file", "1 in bytes 8 to 11"),
        _delta("reserved-in-trailer", trailer, CORRUPT, "footer", "1 in byte 17"),
        _delta("reserved-in-trailer-too", trailer_too, CORRUPT, "footer", "1 in bytes 22 and 23"),
        _delta("reserved-section-flags", of_section, CORRUPT, "footer", "bit 1 in section 2"),
        _delta("reserved-family-flags", of_family, CORRUPT, "footer", "bit 5 in a family"),
    ]


def _wrong_footer_frame() -> list[Broken]:
    plain, lz4 = encode(DELTA), encode(SNAPSHOT_LZ4)
    codec = framed(plain, FOOTER_CODEC, "<B", 9)
    longer = framed(plain, FOOTER_RAW_LENGTH, "<I", raw_length(plain) + 1)
    lz4_longer = framed(lz4, FOOTER_RAW_LENGTH, "<I", raw_length(lz4) + 8)
    lz4_shorter = framed(lz4, FOOTER_RAW_LENGTH, "<I", raw_length(lz4) - 1)
    huge = framed(lz4, FOOTER_RAW_LENGTH, "<I", 0x7FFFFFFF)
    return [
        _delta("footer-codec", codec, CORRUPT, "footer", "codec 9"),
        _delta("footer-raw-length", longer, CORRUPT, "footer", "raw length is 1 too many"),
        _lz4("footer-lz4-longer", lz4_longer, "raw length is 8 too many", "footer"),
        _lz4("footer-lz4-shorter", lz4_shorter, "raw length is 1 too few", "footer"),
        _lz4("footer-lz4-huge", huge, "raw length is 2147483647", "footer"),
    ]


def _wrong_footer() -> list[Broken]:
    def unknown_required(parts: Parts) -> None:
        parts.sections.append(Section(900, b"later", flags=1))

    def no_identity(parts: Parts) -> None:
        parts.sections = [s for s in parts.sections if s.code != IDENTITY]

    def twice(parts: Parts) -> None:
        parts.sections.append(section(parts, LINEAGE))

    def left_over(parts: Parts) -> None:
        section(parts, FAMILIES).payload += b"\0"

    def lineage_count(parts: Parts) -> None:
        overwrite(section(parts, LINEAGE), 0, "<I", 0xFFFFFFFF)

    def block_count(parts: Parts) -> None:
        overwrite(section(parts, BLOCKS), 0, "<I", 0xFFFFFFFF)

    def block_length(parts: Parts) -> None:
        overwrite(section(parts, BLOCKS), 4 + 2 + 1 + 8, "<I", 0xFFFFFFF0)

    def string_length(parts: Parts) -> None:
        overwrite(section(parts, IDENTITY), 8, "<H", 0xFFFF)

    def not_utf8(parts: Parts) -> None:
        it = section(parts, IDENTITY)
        it.payload = it.payload.replace(b"default", b"defaul\xff")

    edits: list[tuple[str, Callable[[Parts], None], str, str]] = [
        ("unknown-required-section", unknown_required, VERSION, "section 900 with bit 0"),
        ("no-identity", no_identity, CORRUPT, "section 1 is not there"),
        ("section-twice", twice, CORRUPT, "section 2 is there twice"),
        ("section-left-over", left_over, CORRUPT, "a byte too many in section 3"),
        ("lineage-past-end", lineage_count, CORRUPT, "4294967295 lineage elements"),
        ("blocks-past-end", block_count, CORRUPT, "4294967295 blocks"),
        ("block-past-end", block_length, CORRUPT, "a block of 4294967280 stored bytes"),
        ("string-past-end", string_length, CORRUPT, "an id of 65535 bytes"),
        ("not-utf8", not_utf8, CORRUPT, "a store name that is not UTF-8"),
    ]
    return [
        _delta(name, changed(DELTA, edit), condition, "footer", why)
        for name, edit, condition, why in edits
    ]


def _wrong_head() -> list[Broken]:
    def left_over(parts: Parts) -> None:
        section(parts, HEAD).payload += b"\0"

    def cut(parts: Parts) -> None:
        section(parts, HEAD).payload = section(parts, HEAD).payload[:-1]

    in_delta = encode(DELTA | {"head": SNAPSHOT_OF_HEAD["head"]})
    edits = [("head-left-over", left_over, "a byte too many"), ("head-cut", cut, "11 bytes")]
    return [
        _delta("head-in-delta", in_delta, CORRUPT, "footer", "section 8 in a delta"),
        *(
            Broken(
                f"broken/{name}/2.snapshot",
                changed(SNAPSHOT_OF_HEAD, edit),
                CORRUPT,
                "footer",
                f"{why} in section 8",
            )
            for name, edit, why in edits
        ),
    ]


def _wrong_parts() -> list[Broken]:
    def missing(parts: Parts) -> None:
        parts.sections = [s for s in parts.sections if s.code != PARTS]

    def none(parts: Parts) -> None:
        it = section(parts, PARTS)
        it.payload = it.payload[: 2 + len(PLAN)] + bytes(4)

    edits: list[tuple[str, Callable[[Parts], None], str]] = [
        ("parts-missing", missing, "section 7 is not there"),
        ("parts-none", none, "no part of a manifest"),
    ]
    name = REFERENCE["file"].rpartition("/")[2]
    return [
        Broken(f"broken/{it}/{name}", changed(REFERENCE, edit), CORRUPT, "footer", why)
        for it, edit, why in edits
    ]


def _wrong_places() -> list[Broken]:
    def gap(parts: Parts) -> None:
        table = section(parts, BLOCKS)
        # Offset of block 1 of 2; families and codecs come before.
        at = 4 + 2 * 2 + 2 * 1 + 8
        (offset,) = struct.unpack_from("<Q", table.payload, at)
        overwrite(table, at, "<Q", offset + 4)
        parts.stored.insert(1, b"gap!")

    def gap_before_footer(parts: Parts) -> None:
        parts.stored.append(b"gap!")

    def group_entries(parts: Parts) -> None:
        overwrite(section(parts, GROUPS), 4 + 4 * (2 + 4), "<I", 1)

    def entry_count(parts: Parts) -> None:
        overwrite(section(parts, BLOCKS), 4 + 2 + 1 + 8 + 4 + 4, "<I", 5)

    first, second, _ = MULTI_VALUE["groups"]
    two_families = MULTI_VALUE | {"groups": [first, second | {"entries": 2, "bytes": 48}]}
    gaps = changed(MULTI_VALUE, gap)
    return [
        Broken("broken/gap-between-blocks/5.delta", gaps, CORRUPT, "footer", "of 4 bytes"),
        _delta(
            "gap-before-footer", changed(DELTA, gap_before_footer), CORRUPT, "footer", "4 bytes"
        ),
        _delta("group-gap", changed(DELTA, group_entries), CORRUPT, "footer", "1 entry, not 2"),
        _delta("entry-count", changed(DELTA, entry_count), CORRUPT, "footer", "5 in the footer"),
        Broken(
            "broken/group-in-two-families/5.delta",
            encode(two_families),
            CORRUPT,
            "footer",
            "a group of family 1 ends in the block of family 3",
        ),
    ]


def _wrong_block() -> list[Broken]:
    def group_number(parts: Parts) -> None:
        overwrite(section(parts, GROUPS), 4 + 4 * 2, "<I", 15)

    first = DELTA["blocks"][0]["entries"][0]
    others = DELTA["blocks"][0]["entries"][1:]
    block = DELTA["blocks"][0]
    appended = DELTA | {"blocks": [block | {"entries": [first | {"type": "APPEND"}, *others]}]}
    checked = ROW_CHECKSUMS["blocks"][0]
    wrong_row = [checked["entries"][0] | {"checksum": 1}, *checked["entries"][1:]]
    row_checksum = ROW_CHECKSUMS | {"blocks": [checked | {"entries": wrong_row}]}
    lz4, plain = SNAPSHOT_LZ4["blocks"]
    gone = lz4["entries"][0] | {"type": "REMOVE", "values": []}
    removing = SNAPSHOT_LZ4 | {
        "blocks": [lz4 | {"entries": [gone, *lz4["entries"][1:]]}, plain],
        "groups": [SNAPSHOT_LZ4["groups"][0] | {"bytes": 16}, *SNAPSHOT_LZ4["groups"][1:]],
    }
    return [
        _delta("group-of-hash", changed(DELTA, group_number), CORRUPT, "file", "15, not 3"),
        _delta("append-to-single", encode(appended), CORRUPT, "file", "not a multi-value family"),
        _delta("entries-past-end", _raw(0, 0xFFFFFFFF), CORRUPT, "file", "4294967295 entries"),
        _delta("key-past-end", _raw(8 + 6 * 4, 0xFFFFFF00), CORRUPT, "file", "a huge first key"),
        _delta("type-unknown", _raw(8 + 6 * 12 + 4 * 4, 0x09090909), CORRUPT, "file", "type 9"),
        Broken("broken/row-checksum/3.delta", encode(row_checksum), CORRUPT, "file", "of row 0"),
        _lz4("lz4-garbage", _lz4_changed(stored=0xFFFFFFFF), "stored bytes are not LZ4", "file"),
        _lz4("lz4-raw-length", _lz4_changed(raw_more=7), "raw length is 7 too many", "file"),
        _lz4("remove-in-snapshot", encode(removing), "a snapshot has only PUT", "file"),
    ]


def _wrong_continued() -> list[Broken]:
    first, second = CONTINUED["blocks"]
    before, entry, more = first["entries"]

    def with_first(*entries: Spec) -> Spec:
        return {"blocks": [first | {"entries": list(entries)}, second]}

    def with_count(count: int) -> bytes:
        def edit(parts: Parts) -> None:
            section(parts, CODE_OF_CONTINUED).payload = struct.pack("<I", count)

        return changed(CONTINUED, edit)

    def without_section(parts: Parts) -> None:
        parts.sections = [s for s in parts.sections if s.code != CODE_OF_CONTINUED]

    other_hash = more | {"hash": more["hash"] + 12}
    other_key = more | {"key": before["key"]}
    removed = remove(before["hash"], before["key"])
    groups = [group(0, 4, 0, 0, 4, 122), *CONTINUED["groups"][1:]]
    files = [
        ("unmarked", changed(CONTINUED, without_section), "file", "an APPEND without section 9"),
        ("none", with_count(0), "footer", "0 entries"),
        ("many", with_count(5), "footer", "all 5 entries"),
        ("key", encode(CONTINUED | with_first(before, entry, other_key)), "file", "another key"),
        ("hash", encode(CONTINUED | with_first(before, entry, other_hash)), "file", "another hash"),
        ("first", encode(CONTINUED | with_first(more, entry, before)), "file", "comes first"),
        ("next", encode(CONTINUED | with_first(entry, more, before)), "file", "in the next block"),
        (
            "remove",
            encode(CONTINUED | with_first(removed, entry, more) | {"groups": groups}),
            "file",
            "a REMOVE in a snapshot",
        ),
    ]
    return [
        Broken(f"broken/continued-{name}/5.snapshot", content, CORRUPT, found, why)
        for name, content, found, why in files
    ]


def _upwards() -> list[Broken]:
    upwards = UNCHANGED[-1] | {"lineage": [link(1, "delta", "a"), link(4, "delta", "b")]}
    why = "a lineage from 1 to 4"
    return [Broken("broken/upwards/6_c.delta", encode(upwards), CORRUPT, "footer", why)]


def _wrong_merged() -> list[Broken]:
    def with_base(base: int) -> bytes:
        return encode(MERGED_DELTA | {"base": base})

    def without(code: int) -> bytes:
        def edit(parts: Parts) -> None:
            parts.sections = [s for s in parts.sections if s.code != code]

        return changed(MERGED_DELTA, edit)

    def building_on(*links: Spec) -> bytes:
        return encode(LAST | {"lineage": [link(6, "delta", "e"), *links]})

    def merged(base: int, unique: str = "d") -> Spec:
        return link(5, "merged", unique, base)

    snapshot = link(2, "snapshot", "a")
    of_delta = encode(MERGED_DELTA | {"kind": "delta"})
    whole = encode(MERGED_DELTA)
    files = [
        ("base-of-another/5_d.2.merged", with_base(1), "section 10 has 1"),
        ("base-of-itself/5_d.2.merged", with_base(5), "section 10 has the version itself"),
        ("base-missing/5_d.2.merged", without(BASE), "section 10 is not there"),
        ("base-in-delta/5_d.delta", of_delta, "section 10 in a delta"),
        ("merged-drops-nothing/5_d.2.merged", without(DROPPED), "section 4 is not there"),
        ("merged-in-name/5_d.delta", whole, "holds a merged delta"),
        (
            "merged-goes-on/9_f.delta",
            building_on(merged(3), snapshot),
            "version 2 after a merged delta of base 3",
        ),
        ("merged-is-last/9_f.delta", building_on(merged(2)), "no element of version 2"),
        (
            "merged-on-itself/9_f.delta",
            building_on(merged(5), link(5, "snapshot", "d")),
            "version 5 has base 5",
        ),
        (
            "merged-without-id/9_f.delta",
            building_on(merged(2, ""), snapshot),
            "a merged delta without an id",
        ),
    ]
    return [
        Broken(f"broken/{name}", content, CORRUPT, "footer", why) for name, content, why in files
    ]


def _lies() -> list[Broken]:
    """What nobody could write by chance."""

    def with_link(unique: str, version: int = 6) -> bytes:
        return encode(DELTA | {"lineage": [link(version, "delta", unique)]})

    def with_identity(**fields: Any) -> bytes:
        return encode(DELTA | {"identity": DELTA["identity"] | fields})

    def with_family(**fields: Any) -> bytes:
        first = DELTA["families"][0]
        return encode(DELTA | {"families": [first, first | {"family": 1} | fields]})

    first, *others = DELTA["groups"]
    huge = encode(DELTA | {"groups": [first | {"entries": 0xFFFFFFFF}, *others]})
    deltas = [
        ("id-outside", with_link("../../x"), "an id is '../../x'"),
        ("id-with-control", with_link("a\0b"), "an id has a NUL"),
        ("version-0", encode(DELTA | {"lineage": [link(0, "delta")]}), "it builds on version 0"),
        ("store-outside", with_identity(store=".."), "the store is '..'"),
        ("partition-of-none", with_identity(partition=4), "partition 4 of 4"),
        ("key-groups-huge", with_identity(keyGroups=0x7FFFFFFF), "2147483647 key groups"),
        ("family-twice", with_family(), "two families have one name"),
        ("amount-huge", with_family(name="x", keys=1 << 62), "2^62 rows"),
        ("entries-overflow", huge, "a group of 4294967295 entries"),
        ("footer-zstd-huge", _promise(DELTA), "its frame promises 1 GiB and has 300 bytes"),
    ]
    return [_delta(name, content, CORRUPT, "footer", why) for name, content, why in deltas]


def _promise(spec: Spec) -> bytes:
    """A file whose footer is a Zstandard frame of 300 zeros that says it has 1 GiB."""
    frame = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 1 << 30)
    frame += (300 << 3 | 3).to_bytes(3, "little") + bytes(1)
    content = encode(spec)
    body, tail = content[: footer_start(content)] + frame, content[-TRAILER_BYTES:]
    tail = struct.pack("<QIIB", len(body) + TRAILER_BYTES, len(frame), 1 << 30, 1) + tail[17:]
    return sealed(body + tail)


def _lz4(name: str, content: bytes, why: str, found: str) -> Broken:
    return Broken(f"broken/{name}/9.snapshot", content, CORRUPT, found, why)


def _raw(at: int, number: int) -> bytes:
    """DELTA with a u32 of its only block's raw bytes overwritten, under right checksums."""
    parts = parts_of(DELTA)
    raw = bytearray(parts.stored[0])
    struct.pack_into("<I", raw, at, number)
    parts.stored = [bytes(raw)]
    section(parts, BLOCKS).payload = blocks(DELTA["blocks"], parts.stored, parts.stored)
    return assemble(parts)


def _lz4_changed(*, stored: int | None = None, raw_more: int = 0) -> bytes:
    """SNAPSHOT_LZ4 with other first stored bytes or a longer raw length, under right checksums."""
    parts = parts_of(SNAPSHOT_LZ4)
    items = SNAPSHOT_LZ4["blocks"]
    raws = [raw_block(it["entries"], with_checksums=False) for it in items]
    if stored is not None:
        parts.stored[0] = struct.pack("<I", stored) + parts.stored[0][4:]
    raws[0] += bytes(raw_more)
    section(parts, BLOCKS).payload = blocks(items, raws, parts.stored)
    return assemble(parts)
