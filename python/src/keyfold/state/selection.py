"""Selects rows of a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import gcd
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from keyfold.format.footer import Footer
from keyfold.rows.arrow import Flags, Ints

Hashes: TypeAlias = npt.NDArray[np.int32]
Groups: TypeAlias = npt.NDArray[np.int64]


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


class Sieve:
    """A filter of hashes: a small table first, which most others do not pass."""

    def __init__(self, hashes: Hashes) -> None:
        bits = max(10, min(24, len(hashes).bit_length() + 3))
        self._hashes = np.unique(hashes)
        self._mask = np.int32((1 << bits) - 1)
        self._table = np.zeros(1 << bits, dtype=np.bool_)
        self._table[hashes & self._mask] = True

    def passes(self, hashes: Hashes) -> Flags:
        """Whether each is one of the given hashes.

        No other passes: it would be taken from some files that have its row and not from others.
        """
        accepted: Flags = self._table[hashes & self._mask]
        few = np.flatnonzero(accepted)
        at = np.searchsorted(self._hashes, hashes[few])
        accepted[few] = self._hashes.take(at, mode="clip") == hashes[few]
        return accepted

    def may_hold(self, groups: Groups, key_groups: int) -> Flags:
        """Whether each key group may have one of the given hashes."""
        return np.isin(groups, self._hashes.astype(np.int64) % key_groups)


@dataclass(frozen=True)
class Selection:
    """The family and the hashes to take; None takes all."""

    family: str | None = None
    sieve: Sieve | None = None

    def of_family(self, name: str) -> Selection:
        """The same for one family."""
        return replace(self, family=name)

    def takes(self, family: str) -> bool:
        """Whether it takes rows of a family."""
        return self.family in {None, family}

    def blocks(self, footer: Footer, shares: tuple[Residues, ...]) -> list[int]:
        """The blocks of a file that can have wanted rows that are in all shares, ascending."""
        taken = np.array([self.takes(it.name) for it in footer.families], dtype=np.bool_)
        groups = footer.groups
        if not len(groups):
            return []
        mask = taken[groups.family]
        for part in (*shares, self.sieve):
            if part is not None:
                mask &= part.may_hold(groups.group, footer.identity.key_groups)
        # +1 where a group begins, -1 after it ends.
        steps = np.zeros(len(footer.blocks) + 1, dtype=np.int64)
        np.add.at(steps, groups.block[mask], 1)
        np.add.at(steps, groups.last_block[mask] + 1, -1)
        blocks: list[int] = np.flatnonzero(np.cumsum(steps[:-1]) > 0).tolist()
        return blocks

    def mask(self, hashes: Hashes, shares: tuple[Residues, ...]) -> Flags | None:
        """The entries to take from a block, if they are in all shares; None takes all."""
        masks = [share.has(hashes.astype(np.int64)) for share in shares]
        if self.sieve is not None:
            masks.append(self.sieve.passes(hashes))
        whole = np.logical_and.reduce(masks) if masks else None
        return None if whole is None or whole.all() else whole


@lru_cache
def of_hash(hashed: int) -> Selection:
    """Rows with a hash: the same object if one hash is looked for again."""
    return Selection(sieve=Sieve(np.array([hashed], dtype=np.int32)))


ALL = Selection()
