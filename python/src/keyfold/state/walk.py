"""All stores of all partitions at one batch: files, and the head or the error of reading it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keyfold.errors import KeyfoldError, PartitionsMismatchError
from keyfold.format.footer import Footer
from keyfold.format.names import StoreLocation, Version, is_number
from keyfold.rows.partition_key import CONSTANT
from keyfold.spark_log.batch import Batch
from keyfold.spark_log.logs import OperatorMetadata
from keyfold.spark_log.migrated import earlier_batches
from keyfold.state.chain import Step
from keyfold.state.store_files import Footers, StoreFiles, list_partitions, list_store
from keyfold.storage.storage import Storage

# So many partitions without a folder are looked at one by one.
_MOST_WITHOUT_FOLDER = 1000


@dataclass(frozen=True)
class Part:
    """One store of one partition at a batch, whose version has the files of `written`."""

    version: int
    unique: str
    written: Version
    files: StoreFiles
    head: Footer | None
    error: KeyfoldError | None

    @property
    def location(self) -> StoreLocation:
        """The store."""
        return self.files.location

    @property
    def rows(self) -> int | None:
        """As `Footer.rows` of its head; None if that cannot be read."""
        return None if self.head is None else self.head.rows

    @property
    def values(self) -> int | None:
        """The same of `Footer.values`."""
        return None if self.head is None else self.head.values

    @property
    def bytes(self) -> int | None:
        """The same of `Footer.bytes`."""
        return None if self.head is None else self.head.bytes


def folders(storage: Storage, operator: OperatorMetadata) -> int:
    """How many partitions an operator has by its folders, of which some may be lost."""
    names = (it.name for it in storage.listing(f"state/{operator.id}"))
    return max((int(it) + 1 for it in names if is_number(it)), default=0)


def is_in_partition_0_alone(heads: list[Footer]) -> bool:
    """Whether an operator has no shuffle key, so that it runs in one partition."""
    return {it.partition_key for head in heads for it in head.families} == {CONSTANT}


def partitions_with_state(batch: Batch, operator: OperatorMetadata, heads: list[Footer]) -> int:
    """Number of an operator's partitions that have state, by heads of partition 0.

    It is 1 without a shuffle key. Raises PartitionsMismatchError.
    """
    if is_in_partition_0_alone(heads):
        return 1
    return batch.partitions(operator, max((it.identity.partitions for it in heads), default=0))


class Walk:
    """Reads the heads of a checkpoint's stores at one committed batch.

    What is in `footers` it does not read again, and what it reads it adds.
    """

    def __init__(self, storage: Storage, batch: Batch, footers: Footers | None = None) -> None:
        earlier = earlier_batches(storage)
        self._footers = footers
        self._storage = storage
        self._batch = batch
        self._oldest = earlier.next_version if earlier else 0

    def parts(self, operator: OperatorMetadata) -> list[list[Part]]:
        """Parts of each store of an operator, in the order of the partitions.

        Raises as `partitions` does.
        """
        # Partition 0 first: it shows whether the others exist.
        first = self._first(operator)
        others = self._parts(operator, range(1, self._count(operator, first)))
        return [zero + more for zero, more in zip(first, others, strict=True)]

    def partitions(self, operator: OperatorMetadata) -> int:
        """Number of an operator's partitions that have state.

        Raises:
            PartitionsMismatchError: so many have no folder that the number cannot be this query's,
                and looking for them would take hours; or partition 0 was written for another.
        """
        return self._count(operator, self._first(operator))

    def _first(self, operator: OperatorMetadata) -> list[list[Part]]:
        list_partitions(self._storage, operator.id, self._batch.partitions(operator))
        return self._parts(operator, range(1))

    def _count(self, operator: OperatorMetadata, first: list[list[Part]]) -> int:
        heads = [part.head for store in first for part in store if part.head is not None]
        count = partitions_with_state(self._batch, operator, heads)
        there = folders(self._storage, operator)
        if count > there + _MOST_WITHOUT_FOLDER:
            raise PartitionsMismatchError(
                f"Batch {self._batch.number} has {count:,} partitions by offsets/"
                f"{self._batch.number}, and operator {operator.id} has folders of only "
                f"{there:,}. Restore the file, or the folders, from a copy."
            )
        return count

    def _parts(self, operator: OperatorMetadata, partitions: Sequence[int]) -> list[list[Part]]:
        stores = range(len(operator.stores))
        asked = [(store, partition) for store in stores for partition in partitions]
        found = self._storage.side_by_side(lambda it: self._part(operator, *it), asked)
        count = len(partitions)
        return [found[store * count :][:count] for store in stores]

    def _part(self, operator: OperatorMetadata, index: int, partition: int) -> Part:
        location = StoreLocation(operator.id, partition, operator.stores[index].name)
        unique = self._batch.commit.id_of(operator.id, partition, index)
        version = self._batch.version
        written = self._batch.written(operator, partition, index)
        error: KeyfoldError | None = None
        # Twice, as a running query may replace or remove the file after it was listed.
        for anew in (False, True):
            files = list_store(
                self._storage, location, version, self._oldest, anew=anew, footers=self._footers
            )
            try:
                head = files.head(written)
                files.release()
                self._check(head, files)
                return Part(version, unique, written, files, head, None)
            except KeyfoldError as found:
                error = found
        return Part(version, unique, written, files, None, error)

    def _check(self, head: Footer, files: StoreFiles) -> None:
        """Checks that a head is that of its store, for the query's number of partitions."""
        found, location = head.identity, files.location
        Step(f"{files.folder}/{head.name}").check(files, head, found.key_groups)
        partitions = self._batch.shuffle_partitions
        if partitions and found.partitions and found.partitions != partitions:
            raise PartitionsMismatchError(
                f"Version {found.version} of {location} was written for {found.partitions} "
                f"partitions and the query has {partitions}: a rescale is unfinished. Finish it "
                "before the query starts again."
            )
