"""Selects rows of a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from keyfold.errors import KeyGroupsMismatchError
from keyfold.format.footer import Footer
from keyfold.rows.places import Flags
from keyfold.state.residues import Residues

Hashes: TypeAlias = npt.NDArray[np.int32]
Groups: TypeAlias = npt.NDArray[np.int64]


class Sieve:
    """A filter of hashes that accepts the given ones and a few others."""

    def __init__(self, hashes: Hashes) -> None:
        bits = max(10, min(24, len(hashes).bit_length() + 3))
        self._mask = np.int32((1 << bits) - 1)
        self._table = np.zeros(1 << bits, dtype=np.bool_)
        self._table[hashes & self._mask] = True

    def passes(self, hashes: Hashes) -> Flags:
        """Whether each is accepted."""
        found: Flags = self._table[hashes & self._mask]
        return found


@dataclass(frozen=True)
class Selection:
    """The family, the key groups and the hashes to take; None takes all."""

    family: str | None = None
    groups: frozenset[int] | None = None
    hash: int | None = None
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
        if self.groups is not None:
            mask &= _among(groups.group, self.groups, footer.identity.key_groups)
        for share in shares:
            mask &= share.may_hold(groups.group, footer.identity.key_groups)
        # +1 where a group begins, -1 after it ends.
        steps = np.zeros(len(footer.blocks) + 1, dtype=np.int64)
        np.add.at(steps, groups.block[mask], 1)
        np.add.at(steps, groups.last_block[mask] + 1, -1)
        blocks: list[int] = np.flatnonzero(np.cumsum(steps[:-1]) > 0).tolist()
        return blocks

    def mask(self, hashes: Hashes, key_groups: int, shares: tuple[Residues, ...]) -> Flags | None:
        """The entries to take from a block, if they are in all shares; None takes all."""
        numbers = hashes.astype(np.int64)
        masks = [share.has(numbers) for share in shares]
        if self.hash is not None:
            masks.append(hashes == self.hash)
        if self.sieve is not None:
            masks.append(self.sieve.passes(hashes))
        if self.groups is not None and self.hash is None:
            masks.append(_among(numbers % key_groups, self.groups, key_groups))
        whole = np.logical_and.reduce(masks) if masks else None
        return None if whole is None or whole.all() else whole


def _among(groups: Groups, wanted: frozenset[int], key_groups: int) -> Flags:
    if max(wanted, default=0) >= key_groups:
        raise KeyGroupsMismatchError(
            f"Cannot look for key group {max(wanted)}: a file has {key_groups} key groups. Its "
            "version's files differ in their number; restore the checkpoint from one copy."
        )
    return np.isin(groups, list(wanted))


ALL = Selection()
