"""The groups of a file, each with its blocks (docs/FORMAT.md, section 4.6)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Numbers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GroupTable:
    """All groups of a file as columns, in the order of their entries.

    `block` is the first block of each and `last_block` the last one.
    """

    family: Numbers
    group: Numbers
    block: Numbers
    last_block: Numbers
    entries: Numbers
    bytes: Numbers

    def __len__(self) -> int:
        """Number of groups."""
        return len(self.family)

    def take(self, mask: npt.NDArray[np.bool_]) -> GroupTable:
        """Some of the groups."""
        return GroupTable(*(getattr(self, it.name)[mask] for it in fields(self)))
