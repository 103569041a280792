"""The contents of a footer (docs/FORMAT.md, section 4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from keyfold.format.frame import Frame
from keyfold.format.names import FileName
from keyfold.wire.codec import Codec

Numbers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GroupTable:
    """All groups of a file as columns, in the order of their entries (section 4.6).

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


def total(numbers: Iterable[int | None]) -> int | None:
    """Their sum, None if one of them is not known."""
    every = list(numbers)
    known = [number for number in every if number is not None]
    return sum(known) if len(known) == len(every) else None


@dataclass(frozen=True)
class Identity:
    """Identity of a file.

    `partitions` is 0 when the writer did not know it; `created` is in ms since 1970.
    """

    version: int
    id: str
    operator: int
    partition: int
    store: str
    partitions: int
    key_groups: int
    created: int
    writer: str


# What says how rows of a family are encoded and placed.
_KEPT = attrgetter("key_encoding", "row_encoding", "partition_key", "ordered", "multi_value")


@dataclass(frozen=True)
class Family:
    """A column family: its flags and encodings, and its rows, values and bytes in the version.

    `strays` says that rows may be in another partition than their hash says, `rescaled` that a
    rescale has placed rows by their hash (docs/FORMAT.md, section 4.3). Keys, values and bytes are
    None in a reference where they cannot be known without reading rows.
    """

    number: int
    name: str
    internal: bool
    multi_value: bool
    ordered: bool
    key_encoding: str
    row_encoding: str
    partition_key: str
    key_schema_id: int
    value_schema_id: int
    strays: bool
    rescaled: bool
    keys: int | None
    values: int | None
    bytes: int | None

    def is_kept_as(self, other: Family) -> bool:
        """Whether the rows of both families have the same encoding and placement."""
        return bool(_KEPT(self) == _KEPT(other))


@dataclass(frozen=True)
class Block:
    """A block's place in the file. Lengths are in bytes."""

    family: int
    codec: Codec
    offset: int
    stored_length: int
    raw_length: int
    entries: int
    checksum: int


@dataclass(frozen=True)
class Reference:
    """A file in a manifest."""

    path: str
    name: FileName
    length: int

    def may_have_length(self, length: int) -> bool:
        """Whether the file may have so many bytes (docs/FORMAT.md, rule R7).

        Each executor that has a version in memory may write its snapshot, or merge its deltas, with
        the same rows in other bytes. The id tells which rows these are.
        """
        return length == self.length or (self.name.kind.is_replaceable and self.name.id != "")


@dataclass(frozen=True)
class Fingerprint:
    """Distinguishes a file from others of its name: its length, and the checksum in its trailer."""

    length: int
    checksum: int


@dataclass(frozen=True)
class Part:
    """The place of a part in a manifest. Lengths are in bytes."""

    offset: int
    codec: Codec
    stored_length: int
    raw_length: int
    checksum: int


@dataclass(frozen=True)
class Footer:
    """A footer.

    `plan` names the rescale that wrote a reference. `parts` are those of its manifest, one for each
    layer, oldest first. `head` is in a snapshot, as far as it says so: the delta or reference whose
    version it holds. `continued` is the number of entries that continue the one before them.
    `base` is the number of the version that a merged delta is applied to.
    """

    frame: Frame
    identity: Identity
    lineage: tuple[FileName, ...]
    families: tuple[Family, ...]
    dropped: tuple[str, ...]
    blocks: tuple[Block, ...]
    groups: GroupTable
    plan: str
    parts: tuple[Part, ...]
    head: Fingerprint | None
    continued: int
    base: int | None

    @property
    def name(self) -> FileName:
        """The name that the file has to have."""
        return FileName(self.identity.version, self.identity.id, self.frame.kind, self.base)

    @property
    def rows(self) -> int | None:
        """Rows of the version, without internal families; None if not known."""
        return total(family.keys for family in self.families if not family.internal)

    @property
    def values(self) -> int | None:
        """Values of the version, of internal families too; None if not known."""
        return total(family.values for family in self.families)

    @property
    def bytes(self) -> int | None:
        """Bytes of keys and values of the version; None if not known."""
        return total(family.bytes for family in self.families)

    @property
    def fingerprint(self) -> Fingerprint:
        """The file's own fingerprint."""
        return Fingerprint(self.frame.file_length, self.frame.checksum)
