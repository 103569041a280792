"""Reads the sections of a footer (docs/FORMAT.md, section 4)."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TypeVar

from keyfold.format.footer import Block, Family, Fingerprint, Footer, Identity, Part, Reference
from keyfold.format.footer_tables import MOST_AMOUNT, read_blocks, read_groups
from keyfold.format.frame import Frame, UnknownVersionError, file_kind
from keyfold.format.names import FileKind, FileName, Version, is_file, is_id, is_store
from keyfold.wire.codec import codec_of
from keyfold.wire.cursor import Cursor, MalformedError


class _Section(IntEnum):
    """A section of a footer, with its code."""

    IDENTITY = 1
    LINEAGE = 2
    FAMILIES = 3
    DROPPED_FAMILIES = 4
    BLOCKS = 5
    GROUPS = 6
    PARTS = 7
    HEAD = 8
    CONTINUED_ENTRIES = 9
    BASE = 10

    def __str__(self) -> str:
        """For messages."""
        return f"the {self.name.lower().replace('_', ' ')} section"


_REQUIRED = 1
_MOST_KEY_GROUPS = 1 << 20
_UNKNOWN = -1

T = TypeVar("T")
D = TypeVar("D")


def parse_footer(data: bytes, frame: Frame) -> Footer:
    """Reads a footer, decompressed, whose checksum was checked.

    Raises:
        UnknownVersionError: it has a required section that this release does not know.
        MalformedError: it breaks the format.
    """
    payloads = _sections(data)
    kind = frame.kind
    if _Section.PARTS in payloads and kind is not FileKind.REFERENCE:
        raise MalformedError("only a reference may have a parts section")
    if _Section.HEAD in payloads and kind is not FileKind.SNAPSHOT:
        raise MalformedError("only a snapshot may have a head section")
    if _Section.BASE in payloads and kind is not FileKind.MERGED:
        raise MalformedError("only a merged delta may have a base section")

    def read(section: _Section, parse: Callable[[Cursor], T], absent: D | None = None) -> T | D:
        """What a section says, or `absent`; without that, the section has to be there."""
        if section not in payloads:
            if absent is None:
                raise MalformedError(f"{section} is missing")
            return absent
        cursor = Cursor(payloads[section], str(section))
        result = parse(cursor)
        cursor.end()
        return result

    identity = read(_Section.IDENTITY, _identity)
    families = read(_Section.FAMILIES, _families)
    blocks = read(_Section.BLOCKS, lambda it: read_blocks(it, len(families)))
    if kind is FileKind.REFERENCE and blocks:
        raise MalformedError("a reference has blocks")
    dropped = read(_Section.DROPPED_FAMILIES, _dropped, None if kind.is_change else ())
    if dropped and not kind.is_change:
        raise MalformedError("only a delta or a merged delta drops families")
    plan, parts = read(_Section.PARTS, _parts, None if kind is FileKind.REFERENCE else ("", ()))
    return Footer(
        frame=frame,
        identity=identity,
        lineage=read(_Section.LINEAGE, lambda it: _lineage(it, identity.version)),
        families=families,
        dropped=dropped,
        blocks=blocks,
        groups=read(_Section.GROUPS, lambda it: read_groups(it, blocks, identity.key_groups)),
        plan=plan,
        parts=parts,
        head=read(_Section.HEAD, _head) if _Section.HEAD in payloads else None,
        continued=read(_Section.CONTINUED_ENTRIES, lambda it: _continued(it, blocks), 0),
        base=read(_Section.BASE, lambda it: it.i64()) if kind is FileKind.MERGED else None,
    )


def _sections(data: bytes) -> dict[_Section, bytes]:
    """Payloads of the known sections."""
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
        if code in set(_Section):
            payloads[_Section(code)] = payload
        elif flags & _REQUIRED:
            raise UnknownVersionError(
                f"it has the required section {code}, which this release does not know"
            )
    return payloads


def _identity(cursor: Cursor) -> Identity:
    identity = Identity(
        *_version(cursor.i64(), cursor.text()),
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


def _lineage(cursor: Cursor, version: int) -> tuple[FileName, ...]:
    # The count is not checked: the loop fails when no bytes are left.
    links = tuple(_name(cursor) for _ in range(cursor.u32()))
    at = version
    base: int | None = None
    for link in links:
        # Code that follows lineages from file to file relies on this to terminate.
        if link.version >= at:
            raise MalformedError(f"the lineage goes from version {at} to {link.version}")
        if base not in {None, link.version}:
            raise MalformedError(
                f"the lineage goes on at version {link.version} after a merged delta of base {base}"
            )
        at, base = link.version, link.base
    if base is not None:
        raise MalformedError("the lineage ends with a merged delta")
    return links


def _name(cursor: Cursor, kind: FileKind | None = None) -> FileName:
    """The name of a file; its kind is the second field unless it is given."""
    number = cursor.i64()
    kind = kind or file_kind(cursor.u8())
    version = _version(number, cursor.text())
    name = FileName(*version, kind, cursor.i64() if kind is FileKind.MERGED else None)
    if not name.is_valid:
        raise MalformedError(f"version {number} has no file {name}")
    return name


def _version(number: int, unique: str) -> Version:
    if number < 1 or not is_id(unique):
        raise MalformedError(f"version {number} with id {unique!r}")
    return Version(number, unique)


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
    path, kind = cursor.text(), file_kind(cursor.u8())
    name = _name(cursor, kind)
    if kind is FileKind.REFERENCE:
        raise MalformedError("a manifest names a reference")
    if not is_file(path, str(name)):
        raise MalformedError(f"{path!r} is no path of {name}")
    return Reference(path, name, cursor.u64())


def _head(cursor: Cursor) -> Fingerprint:
    return Fingerprint(length=cursor.u64(), checksum=cursor.u32())


def _continued(cursor: Cursor, blocks: tuple[Block, ...]) -> int:
    count = cursor.u32()
    # The first entry of a file continues nothing.
    if not 1 <= count < sum(it.entries for it in blocks):
        raise MalformedError(f"{count} continued entries")
    return count
