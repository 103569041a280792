"""Tables of metadata: partitions, files, key groups, column families, skew."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.format.footer import Footer
from keyfold.format.names import Kind
from keyfold.inspection import rows_of_parts as rows
from keyfold.inspection.skew import Skew, measure
from keyfold.spark_log.batch import Batch, read_at
from keyfold.spark_log.logs import OperatorMetadata, operators, read_operator
from keyfold.spark_log.migrated import earlier_batches
from keyfold.state.walk import THREADS, Part, Walk
from keyfold.storage.storage import Storage


class Inspector:
    """Tables from listings and footers; only `skew` reads rows. Every call reads them again.

    Each method may raise BatchNotRetainedError, CheckpointDamagedError and StorageError. Tables
    about heads omit a store whose head cannot be read: `fsck` says why.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def partitions(self, batch: int = -1) -> pa.Table:
        """A row for each store of each partition: its head, rows, bytes and files."""
        return read_at(
            self._storage, batch, lambda it: rows.partitions(self._operators(it), self._parts(it))
        )

    def files(self) -> pa.Table:
        """A row for each file of a committed version, from listings alone."""
        return read_at(self._storage, -1, lambda it: rows.files(self._parts(it)))

    def snapshots(self) -> pa.Table:
        """A row for each snapshot, from its footer."""
        return self._of_kind(Kind.SNAPSHOT)

    def deltas(self) -> pa.Table:
        """A row for each delta, from its footer."""
        return self._of_kind(Kind.DELTA)

    def references(self) -> pa.Table:
        """A row for each reference that a rescale has written, from its footer."""
        return self._of_kind(Kind.REFERENCE)

    def groups(self, batch: int = -1) -> pa.Table:
        """Entries and bytes of each key group in the files of a version, newest file first.

        Entries that a later file replaces count too; `skew` counts rows.
        """
        return read_at(self._storage, batch, lambda it: rows.groups(self._parts(it)))

    def column_families(self, batch: int = -1) -> pa.Table:
        """A row for each column family, over all partitions."""
        return read_at(self._storage, batch, lambda it: rows.families(self._parts(it)))

    def skew(self, by: str = "bytes", batch: int = -1, top: int = 20) -> Skew:
        """How evenly the state is spread over partitions and key groups, and its largest keys.

        It reads all rows.

        Args:
            by: `bytes` or `rows`.
            batch: a batch of the query.
            top: number of keys of each table to list.

        Raises:
            InvalidArgumentError: `by` has another value.
        """
        return read_at(
            self._storage,
            batch,
            lambda it: measure(self._storage, self._operators(it), it, by, top),
        )

    def _operators(self, batch: Batch) -> list[OperatorMetadata]:
        return [
            read_operator(self._storage, number, batch.number)
            for number in operators(self._storage)
        ]

    def _parts(self, batch: Batch) -> list[Part]:
        earlier = earlier_batches(self._storage)
        with self._pool() as pool:
            walk = Walk(self._storage, batch, pool, earlier.next_version if earlier else 0)
            return [
                part
                for operator in self._operators(batch)
                for store in walk.parts(operator)
                for part in store
            ]

    def _of_kind(self, kind: Kind) -> pa.Table:
        def read(batch: Batch) -> pa.Table:
            found = [
                (part, name)
                for part in self._parts(batch)
                for name in sorted(part.files.sizes, key=lambda it: it.version)
                if name.kind is kind
            ]
            with self._pool() as pool:
                footers: list[Footer | None] = list(
                    pool.map(lambda it: it[0].files.footer_or_none(it[1]), found)
                )
            return rows.footers(
                [(part, it) for (part, _), it in zip(found, footers, strict=True) if it is not None]
            )

        return read_at(self._storage, -1, read)

    @staticmethod
    @contextmanager
    def _pool() -> Iterator[ThreadPoolExecutor]:
        with ThreadPoolExecutor(THREADS) as pool:
            yield pool
