"""The grouping key of a subtask.

A key has the subtask and a number, its place, which is chosen so that Spark's hash of both is the
subtask itself. So a subtask has a key group of its own while there are as many groups as subtasks,
and partition `subtask % partitions`, whatever the numbers of groups and partitions are.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from keyfold.rows.row_hash import SEED, hash_ints

_MASK: Final = 0xFFFFFFFF


def place_of(subtask: int) -> int:
    """The place, as a signed 32-bit number."""
    seed = hash_ints(np.array([subtask], np.int32), np.array([SEED], np.uint32))
    place = _word_between(int(seed[0]), subtask)
    return place - (1 << 32) if place >> 31 else place


def _word_between(seed: int, found: int) -> int:
    """The 4 bytes of which Murmur3 with this seed is `found`: each of its steps can be reversed."""
    h = found
    h ^= h >> 16
    h = h * _inverse(0xC2B2AE35) & _MASK
    h ^= h >> 13 ^ h >> 26
    h = h * _inverse(0x85EBCA6B) & _MASK
    h ^= h >> 16
    h ^= 4
    h = (h - 0xE6546B64) * _inverse(5) & _MASK
    h = _rotated_back(h, 13) ^ seed
    return _rotated_back(h * _inverse(0x1B873593) & _MASK, 15) * _inverse(0xCC9E2D51) & _MASK


def _inverse(odd: int) -> int:
    return pow(odd, -1, 1 << 32)


def _rotated_back(word: int, bits: int) -> int:
    return (word >> bits | word << (32 - bits)) & _MASK
