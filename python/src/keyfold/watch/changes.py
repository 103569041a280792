"""What a batch has changed, from the heads that it wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from keyfold.format.footer import Footer, Numbers, total
from keyfold.format.names import FileKind
from keyfold.spark_log.logs import OperatorMetadata
from keyfold.state.walk import Part
from keyfold.watch.batch import KeyGroup, OperatorAfter

_COLUMNS = 5


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
