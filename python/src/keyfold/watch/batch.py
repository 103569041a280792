"""A batch as it was watched, and what it has changed, from the heads that it wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from keyfold.format.footer import Footer, Numbers, total
from keyfold.format.names import FileKind
from keyfold.spark_log.logs import OperatorMetadata
from keyfold.state.walk import Part

_COLUMNS = 5


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


@dataclass(frozen=True)
class Changed:
    """The state files that a batch wrote, and what is in them.

    `times` are those of the files, None if not known. `groups` has a column for each field of a
    `KeyGroup` in any order.
    """

    operators: tuple[OperatorAfter, ...]
    times: tuple[int | None, ...]
    written_bytes: int
    groups: Numbers


def changed(of_operators: Mapping[OperatorMetadata, list[Part]]) -> Changed:
    """What is in the files of a batch, given all parts at it."""
    every = [part for parts in of_operators.values() for part in parts]
    wrote = [(part, part.head) for part in every if part.head and _is_new(part)]
    tables = [_groups(part, head) for part, head in wrote]
    return Changed(
        tuple(_operator(it, parts) for it, parts in of_operators.items()),
        tuple(part.files.times.get(head.name) for part, head in wrote),
        sum(part.files.sizes[head.name] for part, head in wrote),
        np.hstack([np.zeros((_COLUMNS, 0), dtype=np.int64), *tables]),
    )


def summed(tables: Iterable[Numbers]) -> Numbers:
    """The groups of some batches, each once, with the most bytes first."""
    found = np.hstack([np.zeros((_COLUMNS, 0), dtype=np.int64), *tables])
    places, which = np.unique(found[:3], axis=1, return_inverse=True)
    # Sums of up to 53 bits are exact as floating-point numbers.
    sums = [np.bincount(which.reshape(-1), it, places.shape[1]) for it in found[3:]]
    order = np.argsort(-sums[1], kind="stable")
    return np.stack([*places, *sums]).astype(np.int64)[:, order]


def first(groups: Numbers, count: int) -> tuple[KeyGroup, ...]:
    """The first groups of a table."""
    return tuple(KeyGroup(*it) for it in groups[:, :count].T.tolist())


def _is_new(part: Part) -> bool:
    """Whether the batch wrote the part, and it does not only have the rows of an earlier one."""
    return part.written.number == part.version


def _groups(part: Part, head: Footer) -> Numbers:
    if head.frame.kind is not FileKind.DELTA:
        # All rows, or none: a snapshot or reference in the place of a delta does not say.
        return np.zeros((_COLUMNS, 0), dtype=np.int64)
    internal = np.array([it.internal for it in head.families], dtype=np.bool_)
    found = head.groups.take(~internal[head.groups.family])
    places = [np.full(len(found), it) for it in (part.location.operator, part.location.partition)]
    return np.stack([*places, found.group, found.entries, found.bytes]).astype(np.int64)


def _operator(operator: OperatorMetadata, parts: list[Part]) -> OperatorAfter:
    return OperatorAfter(
        id=operator.id,
        name=operator.name,
        partitions=len({it.location.partition for it in parts}),
        rows=total(it.rows for it in parts),
        live_bytes=total(it.bytes for it in parts),
        changes=total(_changes(it) for it in parts),
    )


def _changes(part: Part) -> int | None:
    if part.head is None:
        return None
    return int(_groups(part, part.head)[3].sum()) if _is_new(part) else 0
