"""Header and trailer of a file (docs/FORMAT.md, sections 3.1 and 3.2, rules R1 to R3)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

import google_crc32c

from keyfold.format.names import FileKind
from keyfold.wire.codec import Codec, codec_of
from keyfold.wire.cursor import MalformedError

FORMAT_VERSION = 1
HEADER_BYTES = 16
TRAILER_BYTES = 32
SMALLEST_FILE = HEADER_BYTES + TRAILER_BYTES

_HEADER = struct.Struct("<4sHBBII")
_HEADER_CHECKSUM_AT = 12
_TRAILER = struct.Struct("<QIIBBHBBHI4s")
_TRAILER_CHECKSUM_AT = 24
_HEADER_MAGIC = b"KFLD"
TRAILER_MAGIC = b"DLFK"
_ROW_CHECKSUMS = 1
# The largest number of raw bytes of a footer for each stored byte.
_FOOTER_RATIO = 1024


class ForeignError(ValueError):
    """The file has neither magic."""


class UnknownVersionError(ValueError):
    """The format version is not known; the message names both."""


@dataclass(frozen=True)
class Frame:
    """Contents of header and trailer. Lengths are in bytes; the footer's is its stored length.

    `checksum` is the trailer's, which covers the footer and so all other checksums.
    """

    kind: FileKind
    row_checksums: bool
    footer_codec: Codec
    footer_length: int
    footer_raw_length: int
    file_length: int
    checksum: int

    @property
    def footer_offset(self) -> int:
        """Offset of the footer in the file."""
        return self.file_length - TRAILER_BYTES - self.footer_length


class _Header(NamedTuple):
    magic: bytes
    version: int
    kind: int
    flags: int
    reserved: int
    checksum: int


class _Trailer(NamedTuple):
    length: int
    footer_length: int
    footer_raw_length: int
    footer_codec: int
    reserved: int
    version: int
    kind: int
    flags: int
    reserved_too: int
    checksum: int
    magic: bytes


def file_kind(code: int) -> FileKind:
    """The kind of file with this code; raises MalformedError if there is none."""
    try:
        return FileKind(code)
    except ValueError as error:
        raise MalformedError(f"unknown kind of file {code}") from error


def check_sum(data: bytes, expected: int, what: str) -> None:
    """Raises MalformedError, which names `what`, if bytes have another CRC-32C."""
    actual = google_crc32c.value(data)
    if actual != expected:
        raise MalformedError(f"{what} has checksum {actual:08x}, expected {expected:08x}")


def refuse_short(content: bytes) -> NoReturn:
    """Refuses a file too short for header and trailer, given all of it.

    Raises:
        ForeignError: it does not begin with the header's magic.
        MalformedError: it does, so it was cut off; or it is empty.
    """
    magic = content[: len(_HEADER_MAGIC)]
    if not _HEADER_MAGIC.startswith(magic):
        raise ForeignError
    raise MalformedError(f"it has {len(content)} bytes, the smallest file has {SMALLEST_FILE}")


def footer_length(trailer: bytes, header: bytes | None, size: int) -> int:
    """Checks magics, format versions and lengths, and returns the stored footer's length in bytes.

    Args:
        trailer: the last 32 bytes of the file.
        header: the first 16 bytes, or None if the reader skips them.
        size: length of the file in bytes, at least 48.

    Raises:
        ForeignError: neither magic is there.
        UnknownVersionError: the format version is not 1.
        MalformedError: the file is damaged.
    """
    end = _Trailer._make(_TRAILER.unpack(trailer))
    versions = [end.version]
    if header is not None:
        start = _Header._make(_HEADER.unpack(header))
        if start.magic != _HEADER_MAGIC:
            if end.magic != TRAILER_MAGIC:
                raise ForeignError
            raise MalformedError("the header's magic is missing")
        versions.insert(0, start.version)
    if end.magic != TRAILER_MAGIC:
        raise MalformedError("the trailer's magic is missing, the end of the file may be cut off")
    for found in versions:
        if found != FORMAT_VERSION:
            raise UnknownVersionError(
                f"it has format version {found}, this release reads version {FORMAT_VERSION}"
            )
    if end.length != size:
        raise MalformedError(f"the file has {size} bytes, its trailer says {end.length}")
    if end.footer_length > size - SMALLEST_FILE:
        raise MalformedError(f"a footer of {end.footer_length} bytes does not fit")
    if end.footer_raw_length > end.footer_length * _FOOTER_RATIO:
        raise MalformedError(
            f"a footer of {end.footer_length} bytes cannot have {end.footer_raw_length}"
        )
    return end.footer_length


def check_frame(footer: bytes, trailer: bytes, header: bytes | None) -> Frame:
    """Checks what `footer_length` does not: checksums, repeated fields and reserved fields.

    `footer` is as stored. `footer_length` must have accepted the file. Raises MalformedError.
    """
    end = _Trailer._make(_TRAILER.unpack(trailer))
    check_sum(footer + trailer[:_TRAILER_CHECKSUM_AT], end.checksum, "the footer")
    reserved = [end.reserved, end.reserved_too, end.flags & ~_ROW_CHECKSUMS]
    if header is not None:
        start = _Header._make(_HEADER.unpack(header))
        check_sum(header[:_HEADER_CHECKSUM_AT], start.checksum, "the header")
        if (start.kind, start.flags) != (end.kind, end.flags):
            raise MalformedError("header and trailer differ in kind or flags")
        reserved.append(start.reserved)
    if any(reserved):
        raise MalformedError("a reserved field of header or trailer is not 0")
    return Frame(
        kind=file_kind(end.kind),
        row_checksums=bool(end.flags & _ROW_CHECKSUMS),
        footer_codec=codec_of(end.footer_codec),
        footer_length=end.footer_length,
        footer_raw_length=end.footer_raw_length,
        file_length=end.length,
        checksum=end.checksum,
    )
