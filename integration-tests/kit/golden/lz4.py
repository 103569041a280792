"""A small LZ4 block compressor, here so that golden files do not depend on a library's version."""

from __future__ import annotations

MIN_MATCH = 4
# The format's end rules: the last five bytes are literals, no match starts in the last twelve.
LAST_LITERALS = 5
MATCH_LIMIT = 12
MAX_OFFSET = 65535
# The most that four bits of a token hold; a length from here on goes on behind the token.
FULL = 15


def lz4_block(raw: bytes) -> bytes:
    """One raw LZ4 block, no frame, that decompresses to `raw`."""
    out = bytearray()
    seen: dict[bytes, int] = {}
    start = position = 0
    while position < len(raw) - MATCH_LIMIT:
        quad = raw[position : position + MIN_MATCH]
        candidate = seen.get(quad)
        seen[quad] = position
        if candidate is None or position - candidate > MAX_OFFSET:
            position += 1
            continue
        end = position + MIN_MATCH
        while end < len(raw) - LAST_LITERALS and raw[end] == raw[candidate + end - position]:
            end += 1
        out += _sequence(raw[start:position], position - candidate, end - position)
        start = position = end
    out += _sequence(raw[start:], 0, 0)
    return bytes(out)


def _sequence(literals: bytes, offset: int, match: int) -> bytes:
    """Literals, then a match of `match` bytes `offset` bytes back; no match when `match` is 0."""
    extra = match - MIN_MATCH if match else 0
    token = min(len(literals), FULL) << 4 | min(extra, FULL)
    out = bytes([token]) + _rest(len(literals)) + literals
    if match:
        out += offset.to_bytes(2, "little") + _rest(extra)
    return out


def _rest(length: int) -> bytes:
    """Length bytes that follow a token whose four bits are full."""
    if length < FULL:
        return b""
    return b"\xff" * ((length - FULL) // 255) + bytes([(length - FULL) % 255])
