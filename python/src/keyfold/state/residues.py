"""Rows by the partition they belong to, at some number of partitions."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np

from keyfold.rows.places import Flags, Ints


@dataclass(frozen=True)
class Residues:
    """The rows whose hash, modulo `modulus`, is among `members`."""

    modulus: int
    members: frozenset[int]

    def has(self, hashes: Ints) -> Flags:
        """Whether it has each row."""
        return _among(hashes % self.modulus, self.modulus, self.members)

    def may_hold(self, groups: Ints, key_groups: int) -> Flags:
        """Whether it may have rows of each key group."""
        shared = gcd(self.modulus, key_groups)
        return _among(groups % shared, shared, {it % shared for it in self.members})


def _among(numbers: Ints, modulus: int, members: frozenset[int] | set[int]) -> Flags:
    table = np.zeros(modulus, dtype=np.bool_)
    table[list(members)] = True
    found: Flags = table[numbers]
    return found
