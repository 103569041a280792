"""Rows and bytes of the state, batch by batch, from heads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from keyfold.errors import KeyfoldError
from keyfold.format.footer import total
from keyfold.spark_log.batch import find_batch
from keyfold.spark_log.logs import operators, read_operator
from keyfold.spark_log.migrated import own_batches
from keyfold.state.walk import Walk
from keyfold.storage.storage import Storage
from keyfold.text.printable import printable

Progress: TypeAlias = Callable[[int, int], None]

# The largest number of footers to read; to stay below it, batches are left out evenly.
_FOOTERS = 2000


@dataclass(frozen=True)
class Size:
    """An operator's state after a batch."""

    batch: int
    operator: str
    rows: int
    bytes: int


def sizes(storage: Storage, stores: int, progress: Progress | None) -> list[Size]:
    """The state after retained batches, ascending; without batches whose heads do not have sizes.

    Args:
        storage: the checkpoint.
        stores: number of heads per batch.
        progress: called for each batch.
    """
    numbers = own_batches(storage)
    kept = numbers[:: -(-len(numbers) * max(stores, 1) // _FOOTERS) or 1]
    if numbers and kept[-1] != numbers[-1]:
        kept.append(numbers[-1])
    storage.fetch(f"{log}/{it}" for it in kept for log in ("commits", "offsets"))
    found = []
    for done, number in enumerate(kept, 1):
        found += _sizes(storage, number)
        if progress is not None:
            progress(done, len(kept))
    return found


def _sizes(storage: Storage, number: int) -> list[Size]:
    found = []
    try:
        walk = Walk(storage, find_batch(storage, number))
        for operator in operators(storage):
            metadata = read_operator(storage, operator, number)
            parts = [part for store in walk.parts(metadata) for part in store]
            rows, size = total(it.rows for it in parts), total(it.bytes for it in parts)
            if rows is None or size is None:
                return []
            found.append(Size(number, printable(f"{operator} {metadata.name}"), rows, size))
    except KeyfoldError:
        return []
    return found
