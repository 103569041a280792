"""The values that describe a checkpoint."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from keyfold.format.footer import total
from keyfold.spark_log.migrated import Earlier


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


@dataclass(frozen=True)
class CheckpointValues:
    """A checkpoint at one moment. Times are in ms since 1970, None if no log has them.

    `query_id` is None if it cannot be read.
    `oldest_batch` is the oldest still in the batch log; it is the query's first only if it is 0.
    `earlier_batches` are those in the log from before a migration, whose state is another
    provider's; None if there are none.
    """

    path: str
    query_id: str | None
    provider: str | None
    last_batch: int | None
    last_batch_ms: int | None
    oldest_batch: int | None
    oldest_batch_ms: int | None
    operators: tuple[OperatorDescription, ...]
    problems: tuple[Problem, ...]
    earlier_batches: Earlier | None = None

    @property
    def rows(self) -> int | None:
        """Rows of all operators."""
        return total(operator.rows for operator in self.operators)

    @property
    def live_bytes(self) -> int | None:
        """Bytes of keys and values of all operators."""
        return total(store.live_bytes for it in self.operators for store in it.stores)

    @property
    def disk_bytes(self) -> int:
        """Bytes of the files of all operators."""
        return sum(store.disk_bytes for it in self.operators for store in it.stores)

    def to_dict(self) -> dict[str, Any]:
        """The same as values for JSON, with the totals."""
        totals = {"rows": self.rows, "live_bytes": self.live_bytes, "disk_bytes": self.disk_bytes}
        return asdict(self) | {"totals": totals}
