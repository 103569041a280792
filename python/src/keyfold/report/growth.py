"""Rows and bytes of the state, batch by batch, from the heads that are there."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

from keyfold.batch import find_batch
from keyfold.description import total
from keyfold.errors import KeyfoldError
from keyfold.spark_log import batches, operators, read_operator
from keyfold.storage import Storage
from keyfold.walk import THREADS, Walk

Progress: TypeAlias = Callable[[int, int], None]

# Footers to read at most; with more, batches are left out evenly.
_FOOTERS = 2000


@dataclass(frozen=True)
class Size:
    """State after a batch; None where a head does not say or cannot be read."""

    batch: int
    rows: int | None
    bytes: int | None


def sizes(storage: Storage, stores: int, progress: Progress | None) -> list[Size]:
    """The state after batches that are retained, ascending.

    Args:
        storage: the checkpoint.
        stores: how many heads a batch has.
        progress: told of each batch.
    """
    numbers = batches(storage, "commits")
    kept = numbers[:: -(-len(numbers) * max(stores, 1) // _FOOTERS) or 1]
    if numbers and kept[-1] != numbers[-1]:
        kept.append(numbers[-1])
    found = []
    with ThreadPoolExecutor(THREADS) as pool:
        for done, number in enumerate(kept, 1):
            found.append(_size(storage, number, pool))
            if progress is not None:
                progress(done, len(kept))
    return found


def _size(storage: Storage, number: int, pool: ThreadPoolExecutor) -> Size:
    try:
        batch = find_batch(storage, number)
        walk = Walk(storage, batch, pool)
        parts = [
            part
            for operator in operators(storage)
            for store in walk.parts(read_operator(storage, operator, number))
            for part in store
        ]
    except KeyfoldError:
        return Size(number, None, None)
    if any(part.head is None for part in parts):
        return Size(number, None, None)
    families = [family for part in parts if part.head for family in part.head.families]
    return Size(
        number,
        total(family.keys for family in families if not family.internal),
        total(family.bytes for family in families),
    )
