"""Tables of metadata: partitions, files, key groups, column families, skew."""

from __future__ import annotations

from itertools import chain

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.format.names import FileKind
from keyfold.inspection import rows_of_parts as rows
from keyfold.inspection.skew import Skew, measure
from keyfold.spark_log.batch import Batch, read_at
from keyfold.spark_log.logs import OperatorMetadata, operators, read_operators
from keyfold.state.walk import Part, Walk
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
            self._storage, batch, lambda on, it: rows.partitions(_operators(on, it), _parts(on, it))
        )

    def files(self) -> pa.Table:
        """A row for each file of a committed version, from listings alone."""
        return read_at(self._storage, -1, lambda on, it: rows.files(_parts(on, it)))

    def snapshots(self) -> pa.Table:
        """A row for each snapshot, from its footer."""
        return self._of_kind(FileKind.SNAPSHOT)

    def deltas(self) -> pa.Table:
        """A row for each delta, from its footer."""
        return self._of_kind(FileKind.DELTA)

    def merged_deltas(self) -> pa.Table:
        """A row for each merged delta, from its footer.

        It has what changed since the version `base`: a load reads it in the place of the deltas.
        """
        return self._of_kind(FileKind.MERGED)

    def references(self) -> pa.Table:
        """A row for each reference that a rescale has written, from its footer."""
        return self._of_kind(FileKind.REFERENCE)

    def groups(self, batch: int = -1) -> pa.Table:
        """Entries and bytes of each key group in the files of a version, newest file first.

        Entries that a later file replaces count too; `skew` counts rows.
        """
        return read_at(self._storage, batch, lambda on, it: rows.groups(_parts(on, it)))

    def column_families(self, batch: int = -1) -> pa.Table:
        """A row for each column family, over all partitions."""
        return read_at(self._storage, batch, lambda on, it: rows.families(_parts(on, it)))

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
            self._storage, batch, lambda on, it: measure(on, _operators(on, it), it, by, top)
        )

    def _of_kind(self, kind: FileKind) -> pa.Table:
        def read(storage: Storage, batch: Batch) -> pa.Table:
            found = [
                (part, name)
                for part in _parts(storage, batch)
                for name in sorted(part.files.sizes, key=lambda it: it.version)
                if name.kind is kind
            ]
            footers = storage.side_by_side(lambda it: it[0].files.footer_or_none(it[1]), found)
            return rows.footers(
                [(part, it) for (part, _), it in zip(found, footers, strict=True) if it is not None]
            )

        return read_at(self._storage, -1, read)


def _operators(storage: Storage, batch: Batch) -> list[OperatorMetadata]:
    return read_operators(storage, operators(storage), batch.number)


def _parts(storage: Storage, batch: Batch) -> list[Part]:
    walk = Walk(storage, batch)
    stores = (store for it in _operators(storage, batch) for store in walk.parts(it))
    return list(chain.from_iterable(stores))
