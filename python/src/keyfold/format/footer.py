"""What a file says of itself, as values (docs/FORMAT.md, section 4)."""

from __future__ import annotations

from dataclasses import dataclass

from keyfold.format.codec import Codec
from keyfold.format.frame import Frame
from keyfold.format.group_table import GroupTable
from keyfold.format.names import Kind


@dataclass(frozen=True)
class Identity:
    """Which state a file belongs to.

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


@dataclass(frozen=True)
class Link:
    """An element of a lineage."""

    version: int
    kind: Kind
    id: str


@dataclass(frozen=True)
class Family:
    """A column family: its flags and encodings, and its rows, values and bytes in the version.

    The last three are None in a reference where they cannot be known without reading rows.
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
    keys: int | None
    values: int | None
    bytes: int | None

    def is_kept_as(self, other: Family) -> bool:
        """Whether rows of one may be put as they are where those of the other are kept."""
        return (
            self.key_encoding == other.key_encoding
            and self.row_encoding == other.row_encoding
            and self.partition_key == other.partition_key
            and self.ordered == other.ordered
            and self.multi_value == other.multi_value
        )


@dataclass(frozen=True)
class Block:
    """Where a block lies and how to read it. Lengths are in bytes."""

    family: int
    codec: Codec
    offset: int
    stored_length: int
    raw_length: int
    entries: int
    checksum: int


@dataclass(frozen=True)
class Reference:
    """A file that is part of a version written by a rescale, and which of its rows may be."""

    path: str
    kind: Kind
    version: int
    id: str
    length: int
    group_modulus: int
    group_residue: int
    row_modulus: int
    row_residue: int


@dataclass(frozen=True)
class Fingerprint:
    """What tells a file from others of its name: its bytes, and the checksum in its trailer."""

    length: int
    checksum: int


@dataclass(frozen=True)
class Part:
    """Where a part of a manifest lies and how to read it. Lengths are in bytes."""

    offset: int
    codec: Codec
    stored_length: int
    raw_length: int
    checksum: int


@dataclass(frozen=True)
class Footer:
    """Everything a file says of itself.

    `plan` names the rescale that wrote a reference. `parts` are those of its manifest, one for each
    layer, oldest first; releases before the manifest have written `references` instead. `head` is
    in a snapshot, as far as it says so: the delta or reference whose version it holds.
    """

    frame: Frame
    identity: Identity
    lineage: tuple[Link, ...]
    families: tuple[Family, ...]
    dropped: tuple[str, ...]
    blocks: tuple[Block, ...]
    groups: GroupTable
    plan: str
    references: tuple[Reference, ...]
    parts: tuple[Part, ...]
    head: Fingerprint | None

    @property
    def fingerprint(self) -> Fingerprint:
        """Of the file itself."""
        return Fingerprint(self.frame.file_length, self.frame.checksum)
