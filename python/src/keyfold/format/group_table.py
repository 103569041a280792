"""The groups of a file, each with its first block and entry (docs/FORMAT.md, section 4.6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Numbers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Group:
    """The run of entries of one family and key group; `bytes` counts keys and values.

    It begins in `block` at the entry `index` and may continue in the next blocks.
    """

    family: int
    group: int
    block: int
    index: int
    entries: int
    bytes: int


@dataclass(frozen=True, eq=False)
class GroupTable:
    """All groups of a file as columns, in the order of their entries.

    `block` is the first block of each and `last_block` the last one.
    """

    family: Numbers
    group: Numbers
    block: Numbers
    last_block: Numbers
    index: Numbers
    entries: Numbers
    bytes: Numbers

    def __len__(self) -> int:
        """Number of groups."""
        return len(self.family)

    def take(self, mask: npt.NDArray[np.bool_]) -> GroupTable:
        """Some of the groups."""
        return GroupTable(*(getattr(self, it.name)[mask] for it in fields(self)))

    def __iter__(self) -> Iterator[Group]:
        """Each group."""
        columns = (self.family, self.group, self.block, self.index, self.entries, self.bytes)
        return (Group(*row) for row in zip(*(it.tolist() for it in columns), strict=True))

    def __eq__(self, other: object) -> bool:
        """Whether the groups are the same."""
        return isinstance(other, GroupTable) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]
