"""Reads the sections of a footer (docs/FORMAT.md, section 4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict, TypeVar

from keyfold.format.footer import (
    Block,
    Family,
    Fingerprint,
    Footer,
    Identity,
    Link,
    Part,
    Reference,
)
from keyfold.format.footer_tables import MOST_AMOUNT, read_blocks, read_groups
from keyfold.format.frame import Frame, UnknownVersionError
from keyfold.format.names import FileKind, FileName, is_file, is_id, is_store
from keyfold.wire.codec import codec_of
from keyfold.wire.cursor import Cursor, MalformedError

_IDENTITY, _LINEAGE, _FAMILIES, _DROPPED, _BLOCKS, _GROUPS, _PARTS, _HEAD = range(1, 9)
_CONTINUED, _UNCHANGED = 9, 10
_NAMES = {
    _IDENTITY: "identity",
    _LINEAGE: "lineage",
    _FAMILIES: "families",
    _DROPPED: "dropped families",
    _BLOCKS: "blocks",
    _GROUPS: "groups",
    _PARTS: "parts",
    _HEAD: "head",
    _CONTINUED: "continued entries",
    _UNCHANGED: "unchanged versions",
}
_REQUIRED = 1
_MOST_KEY_GROUPS = 1 << 20
_UNKNOWN = -1

T = TypeVar("T")


class _Version(TypedDict):
    version: int
    id: str


def parse_footer(data: bytes, frame: Frame) -> Footer:
    """Reads a footer, decompressed, whose checksum was checked.

    Raises:
        UnknownVersionError: it has a required section that this release does not know.
        MalformedError: it breaks the format.
    """
    payloads = _sections(data)
    needed = {_IDENTITY, _LINEAGE, _FAMILIES, _BLOCKS, _GROUPS}
    if frame.kind is FileKind.DELTA:
        needed.add(_DROPPED)
    if frame.kind is FileKind.REFERENCE:
        needed.add(_PARTS)
    elif _PARTS in payloads:
        raise MalformedError("only a reference may have a parts section")
    if _HEAD in payloads and frame.kind is not FileKind.SNAPSHOT:
        raise MalformedError("only a snapshot may have a head section")
    for code in sorted(needed - payloads.keys()):
        raise MalformedError(f"the {_NAMES[code]} section is missing")
    identity = _read(payloads, _IDENTITY, _identity)
    unchanged = _read(payloads, _UNCHANGED, _unchanged) if _UNCHANGED in payloads else 0
    families = _read(payloads, _FAMILIES, _families)
    blocks = _read(payloads, _BLOCKS, lambda cursor: read_blocks(cursor, len(families)))
    if frame.kind is FileKind.REFERENCE and blocks:
        raise MalformedError("a reference has blocks")
    dropped = _read(payloads, _DROPPED, _dropped) if _DROPPED in payloads else ()
    if dropped and frame.kind is not FileKind.DELTA:
        raise MalformedError("only a delta drops families")
    plan, parts = _read(payloads, _PARTS, _parts) if _PARTS in payloads else ("", ())
    return Footer(
        frame=frame,
        identity=identity,
        lineage=_read(
            payloads, _LINEAGE, lambda cursor: _lineage(cursor, identity.version, unchanged)
        ),
        families=families,
        dropped=dropped,
        blocks=blocks,
        groups=_read(
            payloads, _GROUPS, lambda cursor: read_groups(cursor, blocks, identity.key_groups)
        ),
        plan=plan,
        parts=parts,
        head=_read(payloads, _HEAD, _head) if _HEAD in payloads else None,
        continued=(
            _read(payloads, _CONTINUED, lambda cursor: _continued(cursor, blocks))
            if _CONTINUED in payloads
            else 0
        ),
    )


def _sections(data: bytes) -> dict[int, bytes]:
    """Payloads of the known sections by code."""
    cursor = Cursor(data, "the footer")
    seen = set()
    payloads = {}
    while cursor.left:
        code, flags = cursor.u16(), cursor.u16()
        payload = cursor.take(cursor.u32())
        if code in seen:
            raise MalformedError(f"section {code} is there twice")
        seen.add(code)
        if flags & ~_REQUIRED:
            raise MalformedError(f"section {code} has reserved flags {flags:#06x}")
        if code in _NAMES:
            payloads[code] = payload
        elif flags & _REQUIRED:
            raise UnknownVersionError(
                f"it has the required section {code}, which this release does not know"
            )
    return payloads


def _read(payloads: dict[int, bytes], code: int, parse: Callable[[Cursor], T]) -> T:
    cursor = Cursor(payloads[code], f"the {_NAMES[code]} section")
    result = parse(cursor)
    cursor.end()
    return result


def _identity(cursor: Cursor) -> Identity:
    identity = Identity(
        **_version(cursor.i64(), cursor.text()),
        operator=cursor.i64(),
        partition=cursor.i32(),
        store=cursor.text(),
        partitions=cursor.i32(),
        key_groups=cursor.i32(),
        created=cursor.i64(),
        writer=cursor.text(),
    )
    if not 1 <= identity.key_groups <= _MOST_KEY_GROUPS:
        raise MalformedError(f"{identity.key_groups} key groups")
    if not is_store(identity.store):
        raise MalformedError(f"store {identity.store!r}")
    if identity.partitions < 0 or not 0 <= identity.partition < (identity.partitions or 1 << 31):
        raise MalformedError(f"partition {identity.partition} of {identity.partitions}")
    return identity


def _lineage(cursor: Cursor, version: int, unchanged: int) -> tuple[Link, ...]:
    # The count is not checked: the loop fails when no bytes are left.
    links = tuple(_link(cursor) for _ in range(cursor.u32()))
    at = version
    for link in links:
        # Code that follows lineages from file to file relies on this to terminate.
        if link.version >= at:
            raise MalformedError(f"the lineage goes from version {at} to {link.version}")
        at = link.version
    left_out = version - at - len(links)
    if left_out != unchanged:
        raise MalformedError(f"the lineage leaves out {left_out} versions and not {unchanged}")
    return links


def _unchanged(cursor: Cursor) -> int:
    count = cursor.i64()
    if count < 1:
        raise MalformedError(f"{count} unchanged versions")
    return count


def _link(cursor: Cursor) -> Link:
    number, kind = cursor.i64(), _kind(cursor.u8())
    return Link(kind=kind, **_version(number, cursor.text()))


def _version(number: int, unique: str) -> _Version:
    if number < 1 or not is_id(unique):
        raise MalformedError(f"version {number} with id {unique!r}")
    return {"version": number, "id": unique}


def _families(cursor: Cursor) -> tuple[Family, ...]:
    families = tuple(_family(cursor) for _ in range(cursor.u16()))
    if [it.number for it in families] != list(range(len(families))):
        raise MalformedError("family ids do not count up from 0")
    if len({it.name for it in families}) != len(families):
        raise MalformedError("two families have one name")
    return families


def _family(cursor: Cursor) -> Family:
    number, name, flags = cursor.u16(), cursor.text(), cursor.u8()
    if flags & ~0b11111:
        raise MalformedError(f"family {name!r} has unknown flags {flags:#04x}")
    return Family(
        number=number,
        name=name,
        internal=bool(flags & 0b00001),
        multi_value=bool(flags & 0b00010),
        ordered=bool(flags & 0b00100),
        key_encoding=cursor.text(),
        row_encoding=cursor.text(),
        partition_key=cursor.text(),
        key_schema_id=cursor.i32(),
        value_schema_id=cursor.i32(),
        strays=bool(flags & 0b01000),
        rescaled=bool(flags & 0b10000),
        keys=_known(cursor.i64()),
        values=_known(cursor.i64()),
        bytes=_known(cursor.i64()),
    )


def _known(number: int) -> int | None:
    if not _UNKNOWN <= number <= MOST_AMOUNT:
        raise MalformedError(f"a family has {number} rows, values or bytes")
    return None if number == _UNKNOWN else number


def _dropped(cursor: Cursor) -> tuple[str, ...]:
    return tuple(cursor.text() for _ in range(cursor.u16()))


def _parts(cursor: Cursor) -> tuple[str, tuple[Part, ...]]:
    plan = cursor.text()
    parts = tuple(
        Part(cursor.u64(), codec_of(cursor.u8()), cursor.u32(), cursor.u32(), cursor.u32())
        for _ in range(cursor.u32())
    )
    if not parts:
        raise MalformedError("it names no part of a manifest")
    return plan, parts


def parse_reference(cursor: Cursor) -> Reference:
    """A file that a manifest names; raises MalformedError."""
    path, kind = cursor.text(), _kind(cursor.u8())
    reference = Reference(
        path=path,
        kind=kind,
        **_version(cursor.i64(), cursor.text()),
        length=cursor.u64(),
    )
    if kind is FileKind.REFERENCE:
        raise MalformedError("a manifest names a reference")
    name = str(FileName(reference.version, reference.id, kind))
    if not is_file(path, name):
        raise MalformedError(f"{path!r} is no path of {name}")
    return reference


def _head(cursor: Cursor) -> Fingerprint:
    return Fingerprint(length=cursor.u64(), checksum=cursor.u32())


def _continued(cursor: Cursor, blocks: tuple[Block, ...]) -> int:
    count = cursor.u32()
    # The first entry of a file continues nothing.
    if not 1 <= count < sum(it.entries for it in blocks):
        raise MalformedError(f"{count} continued entries")
    return count


def _kind(code: int) -> FileKind:
    try:
        return FileKind(code)
    except ValueError as error:
        raise MalformedError(f"unknown kind of file {code}") from error
