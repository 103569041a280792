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
        return np.isin(hashes % self.modulus, list(self.members))

    def may_hold(self, groups: Ints, key_groups: int) -> Flags:
        """Whether each key group may have selected rows."""
        shared = gcd(self.modulus, key_groups)
        return np.isin(groups % shared, [it % shared for it in self.members])
