"""Batches of another provider, from before a checkpoint was migrated to Keyfold."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from keyfold.errors import CheckpointDamagedError, FileMissingError, OtherProviderError
from keyfold.settings import FORMAT_KEY
from keyfold.spark_log.logs import Offsets, batches, offsets_or_none, read_commit
from keyfold.storage.storage import Storage


@dataclass(frozen=True)
class Earlier:
    """Batches in the logs from before the migration: their provider, the first and the last."""

    provider: str
    first: int
    last: int

    @property
    def next_version(self) -> int:
        """The oldest version of the state that is Keyfold's."""
        return self.last + 2

    def __str__(self) -> str:
        """For people."""
        which = (
            f"es {self.first} to {self.last} are" if self.first < self.last else f" {self.last} is"
        )
        return f"batch{which} of {self.provider.rpartition('.')[2]}"


def earlier_batches(storage: Storage) -> Earlier | None:
    """The batches in the logs from before a migration; None if there are none.

    Raises:
        StorageError: the storage cannot be reached.
    """
    numbers = sorted(set(batches(storage, "offsets")) & set(batches(storage, "commits")))
    oldest = offsets_or_none(storage, numbers[0]) if numbers else None
    if oldest is None or oldest.provider is None or oldest.is_keyfolds:
        return None
    # No batch after a migration has another provider.
    count = bisect_right(numbers, 0, lo=1, key=lambda it: int(_is_keyfolds(storage, it)))
    return Earlier(oldest.provider, numbers[0], numbers[count - 1])


def own_batches(storage: Storage) -> list[int]:
    """The committed batches whose state is Keyfold's, ascending."""
    earlier = earlier_batches(storage)
    numbers = batches(storage, "commits")
    return numbers if earlier is None else [it for it in numbers if it > earlier.last]


def check_provider(storage: Storage, offsets: Offsets) -> None:
    """Raises OtherProviderError if the batch is from before a migration."""
    if offsets.is_keyfolds:
        return
    earlier = earlier_batches(storage)
    after = "" if earlier is None else f"Choose batch {earlier.last + 1} or a later one. "
    raise OtherProviderError(
        f"The state after batch {offsets.batch} of {storage.root} is that of {offsets.provider}, "
        f"which kept it until the checkpoint was migrated to Keyfold. {after}To read this one, "
        f"use Spark's own `statestore` source with batchId={offsets.batch}, in a session with "
        f"{FORMAT_KEY}={_format(storage, offsets.batch)}."
    )


def _format(storage: Storage, number: int) -> int:
    """The checkpoint format of a batch, under which Spark reads it."""
    try:
        return 2 if read_commit(storage, number).ids else 1
    except (FileMissingError, CheckpointDamagedError):
        return 1


def _is_keyfolds(storage: Storage, number: int) -> bool:
    found = offsets_or_none(storage, number)
    return found is None or found.is_keyfolds
