"""Reads batches of a running query: the last one, and those that came before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from keyfold.errors import BatchNotRetainedError, KeyfoldError
from keyfold.spark_log.batch import Batch, find_batch
from keyfold.spark_log.logs import OperatorMetadata, batches, operators, read_operators
from keyfold.state.store_files import Footers, list_partitions
from keyfold.state.walk import Part, Walk
from keyfold.storage.storage import Storage

Parts: TypeAlias = dict[OperatorMetadata, list[Part]]

# Files of batches before the last one that are read in one look.
_MOST_FILES = 256
# How often to begin again because the query has deleted files meanwhile.
_TRIES = 5


@dataclass(frozen=True)
class BatchRead:
    """A batch and its parts."""

    batch: Batch
    parts: Parts

    @property
    def problems(self) -> list[KeyfoldError]:
        """Why some of its heads could not be read."""
        return [it.error for parts in self.parts.values() for it in parts if it.error]


def read_last(storage: Storage, footers: Footers) -> BatchRead | None:
    """The last committed batch, with the heads of all its parts; None before the first batch.

    If files are missing and the query has committed another batch meanwhile, that one is read.

    Raises:
        KeyfoldError: a log or the description of an operator cannot be read, or the query deletes
            files faster than they are read.
    """
    for _ in range(_TRIES):
        committed = batches(storage, "commits")
        if not committed:
            return None
        try:
            found = _read(storage, find_batch(storage, -1), footers)
            if not found.problems:
                break
        except BatchNotRetainedError:
            found = None
        storage.forget()
        if found and batches(storage, "commits")[-1:] == committed[-1:]:
            break
    else:
        # It is not what the listing ends with now, which would be taken for read.
        raise BatchNotRetainedError(
            f"Cannot read the last batch of {storage.root}: each time the query had committed "
            "another one, and deleted files of it."
        )
    return found


def read_earlier(
    storage: Storage, last: BatchRead, numbers: Sequence[int], footers: Footers
) -> dict[int, BatchRead]:
    """Batches before the last one, the newest of them first, until enough files were read.

    A batch is left out if a file of it is gone, or cannot be read.
    """
    found: dict[int, BatchRead] = {}
    stores = sum(map(len, last.parts.values()))
    left = _MOST_FILES
    for number in reversed(numbers):
        try:
            batch = find_batch(storage, number)
            left -= _written(batch, stores)
            if left < 0:
                break
            read = _read(storage, batch, footers)
        except KeyfoldError:
            continue
        if not read.problems:
            found[number] = read
    return found


def _read(storage: Storage, batch: Batch, footers: Footers) -> BatchRead:
    numbers = operators(storage)
    # Before the descriptions, whose folders are listed with all else.
    for it in numbers:
        list_partitions(storage, it, batch.shuffle_partitions or 1)
    walk = Walk(storage, batch, footers)
    described = read_operators(storage, numbers, batch.number)
    return BatchRead(batch, {it: list(chain.from_iterable(walk.parts(it))) for it in described})


def _written(batch: Batch, stores: int) -> int:
    """Files that a batch wrote: without ids one of each store."""
    tables = batch.commit.ids.values()
    ids = [unique for table in tables for partition in table for unique in partition]
    return sum(not it.startswith("=") for it in ids) if ids else stores
