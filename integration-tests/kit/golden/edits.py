"""Changes that make a broken file of a valid one."""

from __future__ import annotations

import struct
from collections.abc import Callable

from kit.golden.encoder import TRAILER_BYTES, Parts, Section, Spec, assemble, parts_of, sealed

# From the end of the file.
FOOTER_RAW_LENGTH = -20


def changed(spec: Spec, edit: Callable[[Parts], None]) -> bytes:
    """Bytes of the file that `spec` describes, its parts edited, under right checksums."""
    parts = parts_of(spec)
    edit(parts)
    return assemble(parts)


def section(parts: Parts, code: int) -> Section:
    """The section with this code."""
    return next(s for s in parts.sections if s.code == code)


def overwrite(it: Section, at: int, code: str, number: int) -> None:
    """Writes a number into a section's payload; `code` is struct's."""
    payload = bytearray(it.payload)
    struct.pack_into(code, payload, at, number)
    it.payload = bytes(payload)


def flip(data: bytes, at: int) -> bytes:
    """`data` with bit 3 of a byte flipped."""
    return data[:at] + bytes([data[at] ^ 8]) + data[at + 1 :]


def framed(content: bytes, at: int, code: str, number: int) -> bytes:
    """`content` with a field of its header or trailer overwritten, under right checksums."""
    edited = bytearray(content)
    struct.pack_into(code, edited, at, number)
    return sealed(bytes(edited))


def raw_length(content: bytes) -> int:
    """Length of the footer once decompressed, as the trailer says."""
    (length,) = struct.unpack_from("<I", content, len(content) + FOOTER_RAW_LENGTH)
    return int(length)


def footer_start(data: bytes) -> int:
    """Offset of the footer."""
    (length,) = struct.unpack_from("<I", data, len(data) - TRAILER_BYTES + 8)
    return len(data) - TRAILER_BYTES - int(length)
