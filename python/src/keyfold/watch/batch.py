"""A batch as it was watched."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from keyfold.format.footer import total


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
    - `hottest`: the key groups with the most bytes in its deltas
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


def between(first: int | None, last: int | None) -> int | None:
    """From one time to another, not below 0: the clocks of driver and storage may differ."""
    return None if first is None or last is None else max(last - first, 0)
