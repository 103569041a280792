"""Selects rows by partition, at some number of partitions."""

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
        """Whether each row is selected."""
        return among(hashes % self.modulus, self.modulus, self.members)

    def may_hold(self, groups: Ints, key_groups: int) -> Flags:
        """Whether each key group may have selected rows."""
        shared = gcd(self.modulus, key_groups)
        return among(groups % shared, shared, {it % shared for it in self.members})


def among(numbers: Ints, modulus: int, members: frozenset[int] | set[int]) -> Flags:
    """Whether each number is a member; all are below the modulus."""
    table = np.zeros(modulus, dtype=np.bool_)
    table[list(members)] = True
    found: Flags = table[numbers]
    return found
