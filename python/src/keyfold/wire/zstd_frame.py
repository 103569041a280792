"""The largest size that a Zstandard frame can have (RFC 8878, section 3.1.1)."""

from __future__ import annotations

from keyfold.wire.cursor import MalformedError

_MAGIC = b"\x28\xb5\x2f\xfd"
_MOST_OF_BLOCK = 128 * 1024
_RUN, _COMPRESSED = 1, 2


def most_bytes(frame: bytes) -> int:
    """The largest decompressed size of a frame, computed from the headers of its blocks.

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
