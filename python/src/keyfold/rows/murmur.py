"""Spark's Murmur3 of many numbers or strings at once, each with its own seed."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from keyfold.rows.places import Ints, Octets, Places, read

Hashes: TypeAlias = npt.NDArray[np.uint32]

_C1, _C2 = np.uint32(0xCC9E2D51), np.uint32(0x1B873593)
_M, _N = np.uint32(5), np.uint32(0xE6546B64)
_F1, _F2 = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)


def hash_ints(values: npt.NDArray[np.int32], seeds: Hashes) -> Hashes:
    """Hashes of 4-byte numbers."""
    return _end(_mix(seeds, values.view(np.uint32)), np.uint32(4))


def hash_longs(values: npt.NDArray[np.int64], seeds: Hashes) -> Hashes:
    """Hashes of 8-byte numbers, the lower half first."""
    words = values.view(np.uint64)
    low = (words & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    high = (words >> np.uint64(32)).astype(np.uint32)
    return _end(_mix(_mix(seeds, low), high), np.uint32(8))


def hash_bytes(data: Octets, starts: Ints, sizes: Ints, seeds: Hashes) -> Hashes:
    """Hashes of strings: words of 4 bytes, then the rest byte by byte, as Spark does."""
    found = seeds.copy()
    rows = np.flatnonzero(sizes >= 4)  # noqa: PLR2004 - bytes of a word
    at = 0
    while len(rows):
        words = read(data, Places.of(starts[rows] + at), "<u4").astype(np.uint32)
        found[rows] = _mix(found[rows], words)
        at += 4
        rows = rows[sizes[rows] >= at + 4]
    aligned = sizes // 4 * 4
    for more in range(3):
        rows = np.flatnonzero(aligned + more < sizes)
        octets = read(data, Places.of(starts[rows] + aligned[rows] + more), "i1")
        found[rows] = _mix(found[rows], octets.astype(np.int32).view(np.uint32))
    return _end(found, sizes.astype(np.uint32))


def _mix(hashes: Hashes, words: Hashes) -> Hashes:
    mixed = _rotated(words * _C1, 15) * _C2
    return _rotated(hashes ^ mixed, 13) * _M + _N


def _end(hashes: Hashes, length: Hashes | np.uint32) -> Hashes:
    found = hashes ^ length
    found = (found ^ (found >> np.uint32(16))) * _F1
    found = (found ^ (found >> np.uint32(13))) * _F2
    return found ^ (found >> np.uint32(16))


def _rotated(words: Hashes, bits: int) -> Hashes:
    return (words << np.uint32(bits)) | (words >> np.uint32(32 - bits))
