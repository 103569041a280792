"""Reads the sections of a footer (docs/FORMAT.md, section 4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from keyfold.footer import Family, Fingerprint, Footer, Identity, Link, Reference
from keyfold.footer_tables import read_blocks, read_groups
from keyfold.frame import Frame, UnknownVersionError
from keyfold.names import Kind
from keyfold.wire import Cursor, LineageError, MalformedError

_IDENTITY, _LINEAGE, _FAMILIES, _DROPPED, _BLOCKS, _GROUPS, _REFERENCES, _HEAD = range(1, 9)
_NAMES = {
    _IDENTITY: "identity",
    _LINEAGE: "lineage",
    _FAMILIES: "families",
    _DROPPED: "dropped families",
    _BLOCKS: "blocks",
    _GROUPS: "groups",
    _REFERENCES: "references",
    _HEAD: "head",
}
_REQUIRED = 1
_UNKNOWN = -1

T = TypeVar("T")


def parse_footer(data: bytes, frame: Frame) -> Footer:
    """Reads a footer, decompressed, whose checksum was checked.

    Raises:
        UnknownVersionError: it has a section that this release must know and does not.
        MalformedError: it breaks the format.
    """
    payloads = _sections(data)
    needed = {_IDENTITY, _LINEAGE, _FAMILIES, _BLOCKS, _GROUPS}
    if frame.kind is Kind.DELTA:
        needed.add(_DROPPED)
    if frame.kind is Kind.REFERENCE:
        needed.add(_REFERENCES)
    elif _REFERENCES in payloads:
        raise MalformedError("only a reference may have a references section")
    if _HEAD in payloads and frame.kind is not Kind.SNAPSHOT:
        raise MalformedError("only a snapshot may have a head section")
    for code in sorted(needed - payloads.keys()):
        raise MalformedError(f"the {_NAMES[code]} section is missing")
    identity = _read(payloads, _IDENTITY, _identity)
    families = _read(payloads, _FAMILIES, _families)
    blocks = _read(payloads, _BLOCKS, lambda cursor: read_blocks(cursor, len(families)))
    if frame.kind is Kind.REFERENCE and blocks:
        raise MalformedError("a reference has blocks")
    plan, references = "", tuple[Reference, ...]()
    if _REFERENCES in payloads:
        plan, references = _read(payloads, _REFERENCES, _references)
    return Footer(
        frame=frame,
        identity=identity,
        lineage=_read(payloads, _LINEAGE, lambda cursor: _lineage(cursor, identity.version)),
        families=families,
        dropped=_read(payloads, _DROPPED, _dropped) if _DROPPED in payloads else (),
        blocks=blocks,
        groups=_read(
            payloads, _GROUPS, lambda cursor: read_groups(cursor, blocks, identity.key_groups)
        ),
        plan=plan,
        references=references,
        head=_read(payloads, _HEAD, _head) if _HEAD in payloads else None,
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
                f"its section {code} must be understood and this release does not know it"
            )
    return payloads


def _read(payloads: dict[int, bytes], code: int, parse: Callable[[Cursor], T]) -> T:
    cursor = Cursor(payloads[code], f"the {_NAMES[code]} section")
    result = parse(cursor)
    cursor.end()
    return result


def _identity(cursor: Cursor) -> Identity:
    identity = Identity(
        version=cursor.i64(),
        id=cursor.text(),
        operator=cursor.i64(),
        partition=cursor.i32(),
        store=cursor.text(),
        partitions=cursor.i32(),
        key_groups=cursor.i32(),
        created=cursor.i64(),
        writer=cursor.text(),
    )
    if identity.key_groups < 1:
        raise MalformedError(f"{identity.key_groups} key groups")
    if identity.partitions < 0 or identity.partition < 0:
        raise MalformedError(f"partition {identity.partition} of {identity.partitions}")
    return identity


def _lineage(cursor: Cursor, version: int) -> tuple[Link, ...]:
    # A loop over a count from disk allocates nothing by itself: it ends with the bytes at hand.
    links = tuple(
        Link(cursor.i64(), _kind(cursor.u8()), cursor.text()) for _ in range(cursor.u32())
    )
    # Who follows lineages from file to file relies on it: that way each step is a step down.
    if any(link.version != version - back for back, link in enumerate(links, 1)):
        raise LineageError(f"the lineage does not go down from {version - 1} without a gap")
    return links


def _families(cursor: Cursor) -> tuple[Family, ...]:
    families = tuple(_family(cursor) for _ in range(cursor.u16()))
    if [it.number for it in families] != list(range(len(families))):
        raise MalformedError("family ids do not count up from 0")
    if len({it.name for it in families}) != len(families):
        raise MalformedError("two families have one name")
    return families


def _family(cursor: Cursor) -> Family:
    number, name, flags = cursor.u16(), cursor.text(), cursor.u8()
    if flags & ~0b111:
        raise MalformedError(f"family {name!r} has unknown flags {flags:#04x}")
    return Family(
        number=number,
        name=name,
        internal=bool(flags & 0b001),
        multi_value=bool(flags & 0b010),
        ordered=bool(flags & 0b100),
        key_encoding=cursor.text(),
        row_encoding=cursor.text(),
        partition_key=cursor.text(),
        key_schema_id=cursor.i32(),
        value_schema_id=cursor.i32(),
        keys=_known(cursor.i64()),
        values=_known(cursor.i64()),
        bytes=_known(cursor.i64()),
    )


def _known(number: int) -> int | None:
    return None if number == _UNKNOWN else number


def _dropped(cursor: Cursor) -> tuple[str, ...]:
    return tuple(cursor.text() for _ in range(cursor.u16()))


def _references(cursor: Cursor) -> tuple[str, tuple[Reference, ...]]:
    plan = cursor.text()
    references = tuple(_reference(cursor) for _ in range(cursor.u32()))
    if any(it.kind is Kind.REFERENCE for it in references):
        raise MalformedError("a reference refers to a reference")
    return plan, references


def _reference(cursor: Cursor) -> Reference:
    return Reference(
        path=cursor.text(),
        kind=_kind(cursor.u8()),
        version=cursor.i64(),
        id=cursor.text(),
        length=cursor.u64(),
        group_modulus=cursor.i32(),
        group_residue=cursor.i32(),
        row_modulus=cursor.i32(),
        row_residue=cursor.i32(),
    )


def _head(cursor: Cursor) -> Fingerprint:
    return Fingerprint(length=cursor.u64(), checksum=cursor.u32())


def _kind(code: int) -> Kind:
    try:
        return Kind(code)
    except ValueError as error:
        raise MalformedError(f"unknown kind of file {code}") from error
