"""A committed batch of a query, and which files have its state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from keyfold.errors import BatchNotRetainedError, FileMissingError, PartitionsMismatchError
from keyfold.format.names import Version, written
from keyfold.spark_log.logs import (
    Commit,
    Offsets,
    OperatorMetadata,
    batches,
    read_commit,
    read_offsets,
)
from keyfold.spark_log.migrated import check_provider
from keyfold.storage.storage import Storage

T = TypeVar("T")

# How often to start again because the query has deleted files meanwhile.
_TRIES = 5


@dataclass(frozen=True)
class Batch:
    """A committed batch; `offsets` is None if Spark has deleted its offset log entry."""

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

    @property
    def shuffle_partitions(self) -> int | None:
        """Number of partitions of the query, as the offset log says it; None if not known."""
        return None if self.offsets is None else self.offsets.shuffle_partitions

    def written(self, operator: OperatorMetadata, partition: int, store: int) -> Version:
        """The version whose files have the batch's state of a store, by the store's index."""
        unique = self.commit.id_of(operator.id, partition, store)
        # Ids of the commit log are checked when it is read.
        return written(self.version, unique) or Version(self.version, unique)

    def partitions(self, operator: OperatorMetadata, head: int = 0) -> int:
        """Partitions of an operator.

        The offset log wins. Spark writes the query's number there for every operator, also for one
        without a shuffle key, which runs in one partition whatever that number is
        (`walk.is_in_partition_0_alone`). If the log does not say it, the state does: a rescale
        does not change an operator's metadata of format v1.

        Args:
            operator: what Spark says of it.
            head: the number that the version's head was written for; 0 if it is not known.

        Raises:
            PartitionsMismatchError: the offset log and the head have different numbers.
        """
        logged = self.shuffle_partitions
        if logged and head and logged != head:
            raise PartitionsMismatchError(
                f"Version {self.version} of operator {operator.id} was written for {head} "
                f"partitions and the offset log says {logged} for batch {self.number}: a rescale "
                f"is unfinished, or offsets/{self.number} is not this batch's. Finish the rescale, "
                "or restore the file from a copy."
            )
        of_commit = len(self.commit.ids.get(operator.id, ()))
        return logged or head or of_commit or operator.partitions


def find_batch(storage: Storage, batch: int) -> Batch:
    """A committed batch; negative numbers count from the last one, which is -1.

    Raises:
        BatchNotRetainedError: it is not committed yet, or Spark has deleted it from its log.
        OtherProviderError: it is from before the checkpoint was migrated.
        CheckpointDamagedError: its log cannot be parsed.
    """
    committed = batches(storage, "commits")
    number = committed[-1] + 1 + batch if batch < 0 and committed else batch
    if number in committed:
        storage.fetch([f"commits/{number}", f"offsets/{number}"])
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


def settled(storage: Storage, read: Callable[[], T], is_whole: Callable[[T], bool]) -> T:
    """What `read` returns; it is called again while it is not whole and the query goes on.

    A running query deletes files of old batches, and the last one may become an old one meanwhile.

    Args:
        storage: what `read` reads, which forgets what it knows before the next call.
        read: reads what is there.
        is_whole: whether nothing is missing of what it has read.
    """
    for _ in range(_TRIES):
        before = _ends(storage)
        found = read()
        if is_whole(found):
            break
        storage.forget()
        if _ends(storage) == before:
            break
    return found


def _ends(storage: Storage) -> list[int]:
    """The oldest and the newest committed batch."""
    committed = batches(storage, "commits")
    return [*committed[:1], *committed[-1:]]


def read_at(storage: Storage, batch: int, work: Callable[[Storage, Batch], T]) -> T:
    """Calls `work` with a batch, and with a storage that is asked everything once.

    It is called again if the query commits another batch and deletes files.
    """
    once = storage.once()
    for left in reversed(range(_TRIES)):
        now = find_batch(once, batch)
        try:
            return work(once, now)
        except FileMissingError as error:
            once.forget()
            later = find_batch(once, batch)
            if left and later.number != now.number:
                continue
            if now.number not in batches(once, "commits"):
                raise BatchNotRetainedError(
                    f"Cannot read the state after batch {now.number} of {storage.root} any more: "
                    "the running query has removed its files. Look at a newer batch."
                ) from error
            raise
    raise AssertionError
