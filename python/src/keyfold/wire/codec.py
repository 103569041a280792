"""Codecs of blocks and footers (docs/FORMAT.md, section 3.3, rule R4)."""

from __future__ import annotations

from enum import IntEnum

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.wire.cursor import MalformedError

_MAGIC = b"\x28\xb5\x2f\xfd"
_MOST_OF_BLOCK = 128 * 1024
_RUN, _COMPRESSED = 1, 2


class Codec(IntEnum):
    """How bytes are compressed."""

    NONE = 0
    ZSTD = 1
    LZ4 = 2


_NAMES = {Codec.ZSTD: "zstd", Codec.LZ4: "lz4_raw"}
# LZ4 gives at most 255 bytes for each stored byte.
_LZ4_EXPANSION = 255
# Lengths are below 2 GiB.
MOST_BYTES = (1 << 31) - 1


def codec_of(code: int) -> Codec:
    """The codec with this code; raises MalformedError if there is none."""
    try:
        return Codec(code)
    except ValueError as error:
        raise MalformedError(f"unknown codec {code}") from error


def decompress(stored: bytes, raw_length: int, codec: Codec) -> bytes:
    """The raw bytes; raises MalformedError if they are not `raw_length` bytes."""
    # Checked before that many bytes are allocated.
    if raw_length > min(_most(stored, codec), MOST_BYTES):
        raise MalformedError(f"{len(stored)} stored bytes cannot give {raw_length} raw bytes")
    if codec is Codec.NONE:
        if raw_length != len(stored):
            raise MalformedError(f"raw length {raw_length} differs from {len(stored)} stored")
        return stored
    try:
        raw = _decompress(stored, raw_length, codec)
    except (OSError, pa.ArrowException) as error:
        raise MalformedError(f"it cannot be decompressed: {error}") from error
    # LZ4 may fill less of the buffer and report no error: the rest would be old memory. So a
    # decoding with one byte less must fail.
    if codec is Codec.LZ4 and raw_length > 0 and _fits(stored, raw_length - 1, codec):
        raise MalformedError(f"it has fewer than {raw_length} raw bytes")
    return raw


def _most(stored: bytes, codec: Codec) -> int:
    """The largest number of bytes that decompression can give."""
    if codec is Codec.ZSTD:
        return most_bytes(stored)
    return len(stored) * (_LZ4_EXPANSION if codec is Codec.LZ4 else 1)


def _fits(stored: bytes, raw_length: int, codec: Codec) -> bool:
    try:
        _decompress(stored, raw_length, codec)
    except (OSError, pa.ArrowException):
        return False
    return True


def _decompress(stored: bytes, raw_length: int, codec: Codec) -> bytes:
    return bytes(pa.decompress(stored, raw_length, codec=_NAMES[codec], asbytes=True))


def most_bytes(frame: bytes) -> int:
    """The largest decompressed size of a frame, by the headers of its blocks (RFC 8878, 3.1.1).

    Raises:
        MalformedError: the bytes are not one frame.
    """
    if len(frame) < 6 or not frame.startswith(_MAGIC):  # noqa: PLR2004 - the shortest header
        raise MalformedError("there is no zstd frame")
    flags = frame[4]
    at, most, last = 5 + _header_length(flags), 0, False
    while not last:
        if at + 3 > len(frame):
            raise MalformedError("the zstd frame is cut off")
        head = int.from_bytes(frame[at : at + 3], "little")
        last, kind, size = bool(head & 1), head >> 1 & 3, head >> 3
        most += _MOST_OF_BLOCK if kind == _COMPRESSED else min(size, _MOST_OF_BLOCK)
        at += 3 + (1 if kind == _RUN else size)
    end = at + (4 if flags & 4 else 0)
    if end != len(frame):
        raise MalformedError(f"the zstd frame has {end} bytes, not {len(frame)}")
    return most


def _header_length(flags: int) -> int:
    """Bytes of the frame's header after its flags."""
    one_segment = bool(flags & 0x20)
    power = flags >> 6
    content_size = 1 << power if power else int(one_segment)
    return (0 if one_segment else 1) + (0, 1, 2, 4)[flags & 3] + content_size
