"""What one look at a checkpoint has seen."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from keyfold.format.group_table import Numbers
from keyfold.watch.batch import WatchedBatch

# Batches of the first look, and those of which means and the hottest key groups are.
RECENT = 10


@dataclass(frozen=True)
class OperatorNow:
    """An operator at the last batch, with all its files.

    `snapshot_age` is the number of batches from the newest snapshot of a partition, or from the
    beginning if it has none, to its last change: the largest of all partitions; None if no head can
    be read.
    """

    id: int
    name: str
    partitions: int
    rows: int | None
    live_bytes: int | None
    disk_bytes: int
    snapshot_age: int | None


@dataclass(frozen=True)
class PartitionNow:
    """A partition of an operator at the last batch."""

    operator: int
    partition: int
    rows: int
    live_bytes: int


@dataclass(frozen=True, eq=False)
class Look:
    """A checkpoint as it was seen at `looked_ms`, in ms since 1970 by this machine's clock.

    - `batches`: those that were seen, ascending; the last one is the query's last
    - `begun`, `begun_ms`: the batch that has begun and is not committed, and when it began
    - `partitions`: with the most live bytes first
    - `groups`: the key groups that the last `hot_batches` batches have changed, with the most
      bytes first: a row for each field of a `KeyGroup`
    - `note`: what happened to the checkpoint last, such as a rollback, and when it was noticed
    - `problems`: why heads of the last batch cannot be read
    """

    path: str
    query_id: str | None = None
    batches: tuple[WatchedBatch, ...] = ()
    note: str | None = None
    looked_ms: int = 0
    begun: int | None = None
    begun_ms: int | None = None
    operators: tuple[OperatorNow, ...] = ()
    partitions: tuple[PartitionNow, ...] = ()
    groups: Numbers = field(default_factory=lambda: np.zeros((5, 0), dtype=np.int64))
    hot_batches: int = 0
    problems: tuple[str, ...] = ()

    @property
    def last(self) -> WatchedBatch | None:
        """The last committed batch; None before the first."""
        return self.batches[-1] if self.batches else None

    @property
    def interval_ms(self) -> float | None:
        """From the start of one batch to the next: the mean of the last ten; None if not known."""
        return self._mean("interval_ms")

    @property
    def mean_changes(self) -> float | None:
        """Changes of a batch, likewise."""
        return self._mean("changes")

    @property
    def mean_written_bytes(self) -> float | None:
        """Bytes of the state files that a batch wrote, likewise."""
        return self._mean("written_bytes")

    def _mean(self, name: str) -> float | None:
        values = [getattr(it, name) for it in self.batches[-RECENT:]]
        known = [it for it in values if it is not None]
        return sum(known) / len(known) if known else None
