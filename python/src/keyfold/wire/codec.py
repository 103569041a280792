"""Codecs of blocks and footers (docs/FORMAT.md, section 3.3, rule R4)."""

from __future__ import annotations

from enum import IntEnum

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.wire.cursor import MalformedError
from keyfold.wire.zstd_frame import most_bytes


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
