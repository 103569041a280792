"""One committed batch of a query: where its state is to be found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from keyfold.errors import BatchNotRetainedError, FileMissingError
from keyfold.spark_log.logs import (
    Commit,
    Offsets,
    OperatorMetadata,
    batches,
    read_commit,
    read_offsets,
)
from keyfold.spark_log.migrated import check_provider
from keyfold.storage import Storage

T = TypeVar("T")

# How often a query's last batch may move on, and its files go, while it is read.
_TRIES = 5


@dataclass(frozen=True)
class Batch:
    """A committed batch; `offsets` is None when Spark has removed what it was started with."""

    commit: Commit
    offsets: Offsets | None

    @property
    def number(self) -> int:
        """The batch's number."""
        return self.commit.batch

    @property
    def version(self) -> int:
        """The version of the state that it made."""
        return self.commit.batch + 1

    def partitions(self, operator: OperatorMetadata) -> int:
        """Partitions of an operator, as `partition_count` says."""
        return partition_count(operator, self.offsets)


def partition_count(operator: OperatorMetadata, offsets: Offsets | None) -> int:
    """Partitions of the query in a batch: as many as an operator has, or had before a rescale.

    The offset log wins: a rescale changes it but not an operator's metadata of format v1. Spark
    writes the query's number there for every operator, also for one without a shuffle key, which
    runs in one partition whatever that number is: its heads say so (`partition_key.CONSTANT`).
    """
    said = max((store.partitions for store in operator.stores), default=1)
    return (None if offsets is None else offsets.shuffle_partitions) or said


def find_batch(storage: Storage, batch: int) -> Batch:
    """A committed batch; negative numbers count from the last one, which is -1.

    Raises:
        BatchNotRetainedError: it is not committed yet, or Spark has forgotten it.
        OtherProviderError: it is from before the checkpoint was migrated.
        CheckpointDamagedError: its log cannot be understood.
    """
    committed = batches(storage, "commits")
    number = batch
    if batch < 0:
        number = committed[-1] + 1 + batch if committed else batch
    try:
        commit = read_commit(storage, number)
    except FileMissingError as error:
        raise BatchNotRetainedError(_not_there(storage, number, committed)) from error
    try:
        offsets = read_offsets(storage, number)
    except FileMissingError:
        return Batch(commit, None)
    check_provider(storage, offsets)
    return Batch(commit, offsets)


def _not_there(storage: Storage, number: int, committed: list[int]) -> str:
    if not committed:
        return f"Cannot read the state of {storage.root}: no batch is committed yet."
    return (
        f"Cannot read the state after batch {number} of {storage.root}: the commit log has "
        f"batches {committed[0]} to {committed[-1]}. Spark keeps as many as "
        "spark.sql.streaming.minBatchesToRetain says."
    )


def read_at(storage: Storage, batch: int, work: Callable[[Batch], T]) -> T:
    """What `work` makes of a batch, begun anew if the last batch moves on and its files go.

    A running query removes the files of old batches; whoever reads the last one may find it old.
    """
    for left in reversed(range(_TRIES)):
        found = find_batch(storage, batch)
        try:
            return work(found)
        except FileMissingError as error:
            later = find_batch(storage, batch)
            if left and later.number != found.number:
                continue
            if not _is_there(storage, found.number):
                raise BatchNotRetainedError(
                    f"Cannot read the state after batch {found.number} of {storage.root} any more: "
                    "the running query has removed its files. Look at a newer batch."
                ) from error
            raise
    raise AssertionError


def _is_there(storage: Storage, number: int) -> bool:
    return number in batches(storage, "commits")
