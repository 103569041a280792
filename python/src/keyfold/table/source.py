"""Loads a table's rows: the partitions of one store, concurrently."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.errors import FileCorruptError, KeyfoldError, UnknownNameError
from keyfold.format.footer import Family, Footer
from keyfold.format.names import StoreLocation, Version
from keyfold.layout.layout import Layout
from keyfold.spark_log.batch import Batch, read_at
from keyfold.spark_log.logs import OperatorMetadata
from keyfold.state.entries import Rows
from keyfold.state.selection import ALL, Selection
from keyfold.state.store_files import StoreFiles, list_partitions, list_store
from keyfold.state.version import Known, load
from keyfold.state.walk import partitions_with_state
from keyfold.storage.storage import Storage
from keyfold.wire.cursor import MalformedError

# Number of partitions that are loaded concurrently, and so are in memory.
_AHEAD = max(2, min(4, os.cpu_count() or 1))
# The same where loading is mostly waiting.
_AHEAD_REMOTE = 8


T = TypeVar("T")


@dataclass(frozen=True)
class Source:
    """One family of one of an operator's stores. `_heads` caches heads, `_files` listings."""

    storage: Storage
    operator: OperatorMetadata
    layout: Layout
    _heads: dict[tuple[int, int], Footer] = field(default_factory=dict, compare=False, repr=False)
    _files: dict[tuple[int, int], StoreFiles] = field(
        default_factory=dict, compare=False, repr=False
    )

    def once(self) -> Source:
        """The same for one command, which asks the storage once."""
        return self._on(self.storage.once())

    def read_at(self, batch: int, work: Callable[[Source, Batch], T]) -> T:
        """Calls `work` with the same for one command, as `batch.read_at` does."""
        return read_at(self.storage, batch, lambda storage, found: work(self._on(storage), found))

    def _on(self, storage: Storage) -> Source:
        return replace(self, storage=storage, _heads={}, _files={})

    def location(self, partition: int) -> StoreLocation:
        """The store in a partition."""
        store = self.operator.stores[self.layout.store].name
        return StoreLocation(self.operator.id, partition, store)

    def written(self, batch: Batch, partition: int) -> Version:
        """The version whose files have a batch's rows in a partition."""
        return batch.written(self.operator, partition, self.layout.store)

    def files(self, batch: Batch, partition: int) -> StoreFiles:
        """A listing of a partition's files."""
        known = self._files.get((batch.number, partition))
        if known is None:
            known = list_store(self.storage, self.location(partition), batch.version)
            self._files[batch.number, partition] = known
        return known

    def head(self, batch: Batch, partition: int) -> Footer:
        """The head of a partition; raises KeyfoldError."""
        known = self._heads.get((batch.number, partition))
        if known is None:
            known = self.files(batch, partition).head(self.written(batch, partition))
            self._heads[batch.number, partition] = known
        return known

    def heads(self, batch: Batch) -> list[Footer]:
        """The heads of all partitions; raises KeyfoldError."""

        def read(partition: int) -> Footer:
            head = self.head(batch, partition)
            self.files(batch, partition).release()
            return head

        return self.storage.side_by_side(read, range(self.list_all(batch)))

    def share_files(self, batches: list[Batch], partition: int) -> StoreFiles:
        """One listing of a partition for several batches, of which the newest is the last."""
        files = self.files(batches[-1], partition)
        self._files.update({(it.number, partition): files for it in batches})
        return files

    def fetch_heads(self, batches: list[Batch], partition: int) -> None:
        """Reads the heads of several batches in a partition, side by side."""
        files = self.share_files(batches, partition)
        files.fetch(files.sized(files.sizes))
        for batch in batches:
            with suppress(KeyfoldError):
                self.head(batch, partition)

    def family(self, head: Footer) -> Family | None:
        """The family in a head; None if the version does not have it."""
        return next((it for it in head.families if it.name == self.layout.family), None)

    def partitions(self, batch: Batch) -> int:
        """Number of partitions that have the store; 1 for an operator without a shuffle key.

        Raises KeyfoldError.
        """
        return partitions_with_state(batch, self.operator, [self.head(batch, 0)])

    def rows(
        self, batch: Batch, partition: int, wanted: Selection = ALL, known: Known | None = None
    ) -> tuple[Rows, Family] | None:
        """Loads rows of a partition; None if the version does not have the family.

        Raises KeyfoldError.
        """
        files = self.files(batch, partition)
        # It keeps what it reads.
        del self._files[batch.number, partition]
        own = wanted.of_family(self.layout.family)
        version = load(files, self.written(batch, partition), own, known)
        family = self.family(version.head)
        return None if family is None else (version.rows(family.name), family)

    def table(
        self, batch: Batch, partition: int, wanted: Selection = ALL, known: Known | None = None
    ) -> pa.Table:
        """Rows of a partition as a table; raises KeyfoldError."""
        loaded = self.rows(batch, partition, wanted, known)
        if loaded is None:
            return self.layout.arrow.empty_table()
        return self.shown(*loaded, partition)

    def shown(self, rows: Rows, family: Family, partition: int) -> pa.Table:
        """Rows as a table; raises FileCorruptError if they do not fit the schema."""
        with self.fitting(partition):
            return self.layout.table(rows, family, partition)

    @contextmanager
    def fitting(self, partition: int) -> Iterator[None]:
        """Raises FileCorruptError if rows do not fit their schema."""
        try:
            yield
        except MalformedError as error:
            raise FileCorruptError(
                f"Cannot read the rows of {self.location(partition)} family {self.layout.family}: "
                f"{error}. They do not fit the schema that Spark keeps of them; restore the "
                "checkpoint from one consistent copy."
            ) from error

    def tables(self, batch: Batch) -> Iterator[pa.Table]:
        """Each partition's rows, ascending."""
        return self.side_by_side(batch, lambda it: self.table(batch, it))

    def list_all(self, batch: Batch) -> int:
        """Lists all partitions at once where that is quicker; returns their number."""
        count = self.partitions(batch)
        if count > 1:
            list_partitions(self.storage, self.operator.id, count)
        return count

    def side_by_side(self, batch: Batch, work: Callable[[int], T]) -> Iterator[T]:
        """Calls `work` for each partition, some ahead; yields the results in ascending order."""
        ahead = _AHEAD_REMOTE if self.storage.remote else _AHEAD
        partitions = self.list_all(batch)
        if partitions == 1:
            yield work(0)
            return
        with ThreadPoolExecutor(ahead) as pool:
            waiting: deque[Future[T]] = deque()
            try:
                for partition in range(partitions):
                    waiting.append(pool.submit(work, partition))
                    if len(waiting) == ahead:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for task in waiting:
                    task.cancel()


def unknown(what: str, name: object, names: list[str]) -> UnknownNameError:
    """The error for a name that is not there."""
    return UnknownNameError(
        f"Cannot find {what} {name!r}. There are: {', '.join(names) or 'none'}."
    )
