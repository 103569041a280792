"""The state at the last batch, from its heads and the listings of its stores."""

from __future__ import annotations

from collections.abc import Mapping

from keyfold.format.footer import total
from keyfold.format.names import FileKind
from keyfold.spark_log.logs import OperatorMetadata
from keyfold.state.walk import Part
from keyfold.watch.look import OperatorNow, PartitionNow

# What has all rows of a version, so that the deltas before it are not needed.
_WHOLE = {FileKind.SNAPSHOT, FileKind.REFERENCE}


def operators_now(of_operators: Mapping[OperatorMetadata, list[Part]]) -> tuple[OperatorNow, ...]:
    """Each operator, given all parts at the last batch."""
    return tuple(
        OperatorNow(
            id=operator.id,
            name=operator.name,
            partitions=len({it.location.partition for it in parts}),
            rows=total(it.rows for it in parts),
            live_bytes=total(it.bytes for it in parts),
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
