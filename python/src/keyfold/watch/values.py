"""What is seen when one looks at a checkpoint again and again."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from keyfold.format.footer import total
from keyfold.format.group_table import Numbers

# Batches of the first look, and those of which means and the hottest key groups are.
RECENT = 10


@dataclass(frozen=True)
class KeyGroup:
    """A key group of a partition: the entries that deltas have of it, and their bytes."""

    operator: int
    partition: int
    key_group: int
    changes: int
    bytes: int


@dataclass(frozen=True)
class OperatorAfter:
    """An operator after a batch.

    Rows and live bytes are None where no head says them, as after a rescale; changes are None if a
    file of the batch was not read.
    """

    id: int
    name: str
    partitions: int
    rows: int | None
    live_bytes: int | None
    changes: int | None


@dataclass(frozen=True)
class WatchedBatch:
    """A committed batch. Times are in ms since 1970, durations in ms, sizes in bytes.

    - `started_ms`: `batchTimestampMs` of the offset log, by the driver's clock
    - `first_state_ms`, `last_state_ms`: times of the first and last state file that it wrote, and
      `committed_ms`: of its entry in the commit log, all by the storage's clock
    - `interval_ms`: from the start of the batch before to its own
    - `partitions`: of the query, as the offset log says
    - `hottest`: the key groups with the most changes in this batch
    - `changes`: entries of its deltas: rows that were put, removed or appended to
    - `written_bytes`: of the state files that it wrote

    What is not known is None: times of the files of a copy, and what is in the files of a batch
    that was not looked at in time.
    """

    batch_id: int
    started_ms: int | None
    first_state_ms: int | None
    last_state_ms: int | None
    committed_ms: int | None
    interval_ms: int | None
    partitions: int | None
    written_bytes: int | None
    operators: tuple[OperatorAfter, ...]
    hottest: tuple[KeyGroup, ...]

    @property
    def duration_ms(self) -> int | None:
        """From the start to the entry in the commit log."""
        return between(self.started_ms, self.committed_ms)

    @property
    def commit_ms(self) -> int | None:
        """From the first state file to the entry in the commit log."""
        return between(self.first_state_ms, self.committed_ms)

    @property
    def changes(self) -> int | None:
        """Of all operators."""
        return self._sum("changes")

    @property
    def rows(self) -> int | None:
        """Of all operators."""
        return self._sum("rows")

    @property
    def live_bytes(self) -> int | None:
        """Bytes of keys and values of all operators."""
        return self._sum("live_bytes")

    def to_dict(self) -> dict[str, Any]:
        """The same as values for JSON, with durations and sums."""
        sums = ("duration_ms", "commit_ms", "changes", "rows", "live_bytes")
        return asdict(self) | {name: getattr(self, name) for name in sums}

    def _sum(self, name: str) -> int | None:
        if not self.operators:
            return None
        return total(getattr(it, name) for it in self.operators)


@dataclass(frozen=True)
class OperatorNow:
    """An operator at the last batch, with all its files.

    `since_snapshot` is the largest number of batches that a partition has changed in since its
    newest snapshot, or since the beginning if it has none; None if no head can be read.
    """

    id: int
    name: str
    partitions: int
    rows: int | None
    live_bytes: int | None
    disk_bytes: int
    since_snapshot: int | None


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
      changes first: a row for each field of a `KeyGroup`
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


def between(first: int | None, last: int | None) -> int | None:
    """From one time to another, not below 0: the clocks of driver and storage may differ."""
    return None if first is None or last is None else max(last - first, 0)
