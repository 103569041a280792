"""A batch as it was watched, and what it has changed, from the heads that it wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np

from keyfold.format.footer import Numbers, total
from keyfold.format.names import FileKind
from keyfold.spark_log.logs import Offsets, OperatorMetadata
from keyfold.state.walk import Part

# No key groups, as a table with a row for each field of a `KeyGroup`.
NO_GROUPS = np.zeros((5, 0), dtype=np.int64)
# Key groups that are named with a batch.
_HOTTEST = 3


@dataclass(frozen=True)
class KeyGroup:
    """A key group of a partition: the entries that deltas have of it, and their bytes."""

    operator: int
    partition: int
    key_group: int
    changes: int
    bytes: int


@dataclass(frozen=True)
class OperatorSize:
    """An operator. Rows and live bytes are None where no head says them, as after a rescale."""

    id: int
    name: str
    partitions: int
    rows: int | None
    live_bytes: int | None


@dataclass(frozen=True)
class OperatorAfter(OperatorSize):
    """An operator after a batch; changes are None if a file of the batch was not read."""

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
        return _between(self.started_ms, self.committed_ms)

    @property
    def commit_ms(self) -> int | None:
        """From the first state file to the entry in the commit log."""
        return _between(self.first_state_ms, self.committed_ms)

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


def _between(first: int | None, last: int | None) -> int | None:
    """From one time to another, not below 0: the clocks of driver and storage may differ."""
    return None if first is None or last is None else max(last - first, 0)


def watched_batch(
    number: int,
    offsets: Offsets | None,
    committed_ms: int | None,
    before: WatchedBatch | None,
    of_operators: Mapping[OperatorMetadata, list[Part]] | None,
) -> tuple[WatchedBatch, Numbers]:
    """A batch, and the key groups that it has changed: a row for each field of a `KeyGroup`.

    Args:
        number: its own.
        offsets: its entry in the offset log; None if that cannot be read.
        committed_ms: when it was committed; None if not known.
        before: the batch that was watched before it.
        of_operators: all parts at it; None if its files were not looked at in time.
    """
    its = of_operators or {}
    parts = [part for parts in its.values() for part in parts]
    wrote = [(part.files, part.head.name) for part in parts if part.head and _is_new(part)]
    groups = np.hstack([NO_GROUPS, *map(_groups, parts)])
    started = None if offsets is None else offsets.timestamp_ms
    follows = before is not None and before.batch_id == number - 1
    # A copy's files have other times than those that were copied.
    known = [files.times.get(name) for files, name in wrote] if committed_ms else []
    times = [it for it in known if it is not None]
    batch = WatchedBatch(
        batch_id=number,
        started_ms=started,
        first_state_ms=min(times, default=None),
        last_state_ms=max(times, default=None),
        committed_ms=committed_ms,
        interval_ms=_between(before.started_ms, started) if before and follows else None,
        partitions=None if offsets is None else offsets.shuffle_partitions,
        written_bytes=None
        if of_operators is None
        else sum(files.sizes[name] for files, name in wrote),
        operators=tuple(_operator(it, parts) for it, parts in its.items()),
        hottest=first(summed([groups]), _HOTTEST),
    )
    return batch, groups


def summed(tables: Iterable[Numbers]) -> Numbers:
    """The groups of some batches, each once, with the most bytes first."""
    found = np.hstack([NO_GROUPS, *tables])
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


def _groups(part: Part) -> Numbers:
    """The key groups of a part in the delta that the batch wrote of it; none if it wrote none."""
    head = part.head
    if head is None or head.frame.kind is not FileKind.DELTA or not _is_new(part):
        # A snapshot or reference in the place of a delta does not say what has changed.
        return NO_GROUPS
    internal = np.array([it.internal for it in head.families], dtype=np.bool_)
    found = head.groups.take(~internal[head.groups.family])
    places = [np.full(len(found), it) for it in (part.location.operator, part.location.partition)]
    return np.stack([*places, found.group, found.entries, found.bytes]).astype(np.int64)


_Size: TypeAlias = tuple[int, str, int, int | None, int | None]


def size_of(operator: OperatorMetadata, parts: list[Part]) -> _Size:
    """The fields of an `OperatorSize`, given all its parts."""
    partitions = len({it.location.partition for it in parts})
    rows, live_bytes = total(it.rows for it in parts), total(it.bytes for it in parts)
    return operator.id, operator.name, partitions, rows, live_bytes


def _operator(operator: OperatorMetadata, parts: list[Part]) -> OperatorAfter:
    changes = total(int(_groups(it)[3].sum()) if it.head else None for it in parts)
    return OperatorAfter(*size_of(operator, parts), changes)
