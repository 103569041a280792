"""What one look at a checkpoint has seen: its last batch from heads and listings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from keyfold.format.footer import Numbers, total
from keyfold.format.names import FileKind
from keyfold.spark_log.logs import OperatorMetadata
from keyfold.state.walk import Part
from keyfold.watch.batch import NO_GROUPS, OperatorSize, WatchedBatch, size_of

# Batches of the first look, and those of which means and the hottest key groups are.
RECENT = 10

# What has all rows of a version, so that the deltas before it are not needed.
_WHOLE = {FileKind.SNAPSHOT, FileKind.REFERENCE}


@dataclass(frozen=True)
class OperatorNow(OperatorSize):
    """An operator at the last batch, with all its files.

    `snapshot_age` is the number of batches from the newest snapshot of a partition, or from the
    beginning if it has none, to its last change: the largest of all partitions; None if no head can
    be read.
    """

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
    groups: Numbers = field(default_factory=lambda: NO_GROUPS)
    hot_batches: int = 0
    problems: tuple[str, ...] = ()

    @property
    def last(self) -> WatchedBatch | None:
        """The last committed batch; None before the first."""
        return self.batches[-1] if self.batches else None

    def mean(self, name: Literal["interval_ms", "changes", "written_bytes"]) -> float | None:
        """The mean over the last ten batches; None if not known."""
        values = [getattr(it, name) for it in self.batches[-RECENT:]]
        known = [it for it in values if it is not None]
        return sum(known) / len(known) if known else None


def operators_now(of_operators: Mapping[OperatorMetadata, list[Part]]) -> tuple[OperatorNow, ...]:
    """Each operator, given all parts at the last batch."""
    return tuple(
        OperatorNow(
            *size_of(operator, parts),
            disk_bytes=sum(sum(it.files.sizes.values()) for it in parts),
            snapshot_age=max((_snapshot_age(it) for it in parts if it.head), default=None),
        )
        for operator, parts in of_operators.items()
    )


def partitions_now(of_operators: Mapping[OperatorMetadata, list[Part]]) -> tuple[PartitionNow, ...]:
    """Partitions whose heads say what they have, with the most live bytes first."""
    stores: dict[tuple[int, int], list[Part]] = {}
    for part in (part for parts in of_operators.values() for part in parts):
        place = part.location.operator, part.location.partition
        stores.setdefault(place, []).append(part)
    found = []
    for place, its in stores.items():
        rows, live = total(it.rows for it in its), total(it.bytes for it in its)
        if rows is not None and live is not None:
            found.append(PartitionNow(*place, rows, live))
    return tuple(sorted(found, key=lambda it: -it.live_bytes))


def _snapshot_age(part: Part) -> int:
    newest = part.written.number
    whole = (it.version for it in part.files.sizes if it.kind in _WHOLE and it.version <= newest)
    return newest - max(whole, default=0)
