"""The values that describe parts of a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass

from keyfold.format.footer import total


@dataclass(frozen=True)
class Problem:
    """A problem with a checkpoint."""

    path: str
    condition: str
    message: str


@dataclass(frozen=True)
class FamilyDescription:
    """A column family over all partitions of its store. Sizes are in bytes.

    Rows, values and live bytes, and all sums of them, are None while they are not known: files of a
    rescale may not have them. `strays` says that rows are where Spark put them, in other partitions
    than their keys' hashes say: such state cannot be rescaled.
    """

    name: str
    internal: bool
    strays: bool
    rows: int | None
    values: int | None
    live_bytes: int | None


@dataclass(frozen=True)
class StoreDescription:
    """A store over all partitions. Sizes are in bytes.

    `rows` leaves internal families out, `live_bytes` does not. Rows and live bytes come from the
    heads of the last committed version; the files are all those of committed versions.
    """

    name: str
    rows: int | None
    min_partition_rows: int | None
    max_partition_rows: int | None
    live_bytes: int | None
    disk_bytes: int
    deltas: int
    merged_deltas: int
    snapshots: int
    references: int
    families: tuple[FamilyDescription, ...]


@dataclass(frozen=True)
class OperatorDescription:
    """A stateful operator.

    `key_groups` is None while no head can be read, `latest_version` while nothing is committed. The
    loadable versions are the oldest and newest that every partition and store has the files of,
    None if there is none; the newest is the latest unless something is wrong.
    """

    id: int
    name: str
    partitions: int
    key_groups: int | None
    latest_version: int | None
    oldest_loadable_version: int | None
    newest_loadable_version: int | None
    stores: tuple[StoreDescription, ...]

    @property
    def rows(self) -> int | None:
        """Rows in all stores."""
        return total(store.rows for store in self.stores)
