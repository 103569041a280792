"""The stateful operators of a query, also where Spark's description of one is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from keyfold.errors import FileMissingError, KeyfoldError
from keyfold.format.names import DEFAULT_STORE, FileName, StoreLocation, is_store, parse_name
from keyfold.fsck.finding import Finding, Kind, Obstacle, Severity
from keyfold.schema.schema_file import read_state_schema, schema_paths
from keyfold.spark_log.batch import Batch
from keyfold.spark_log.logs import (
    OperatorMetadata,
    StoreMetadata,
    metadata_folder,
    operators,
    read_operator,
)
from keyfold.storage.resolve import is_uri, path_of
from keyfold.storage.storage import Storage


def store_files(storage: Storage, operator: int) -> Iterator[tuple[str, FileName]]:
    """The files of an operator's stores, each with the name of its store."""
    for partition in storage.listing(f"state/{operator}"):
        if not partition.is_folder or not partition.name.isdecimal():
            continue
        entries = storage.listing(f"state/{operator}/{partition.name}")
        stores = [it.name for it in entries if it.is_folder and is_store(it.name)]
        for store in (DEFAULT_STORE, *stores):
            folder = StoreLocation(operator, int(partition.name), store).folder
            names = (parse_name(it.name) for it in storage.listing(folder))
            yield from ((store, it) for it in names if it is not None)


class Operators:
    """The operators of a query.

    Attributes:
        described: those whose state can be checked.
        findings: what is wrong with Spark's files about them and keeps no query from starting.
        obstacles: what does.
    """

    def __init__(self, storage: Storage, committed: list[Batch]) -> None:
        """`committed` are Keyfold's batches that can be read."""
        self.described: list[OperatorMetadata] = []
        self.findings: list[Finding] = []
        self.obstacles: list[Obstacle] = []
        self._storage, self._committed = storage, committed
        named = {it for batch in committed[-1:] for it in batch.commit.ids}
        for number in sorted({*operators(storage), *named}):
            operator = self._described(number, is_named=number in named)
            if operator is not None:
                self._check_schemas(operator)
                self.described.append(operator)

    def _described(self, number: int, *, is_named: bool) -> OperatorMetadata | None:
        last = self._committed[-1].number if self._committed else None
        try:
            return read_operator(self._storage, number, last)
        except KeyfoldError as error:
            stores = self._stores(number)
            folder = f"state/{number}/_metadata"
            if self._storage.listing(metadata_folder(number)):
                self._stops(f"{folder}/v2", error)
                return None
            if not is_named and not self._has_committed(stores):
                return None
            self._written_again(f"{folder}/metadata", error)
        count = self._committed[-1].shuffle_partitions or 1
        # In the order of their names, which is that of Spark, commits have their ids.
        names = sorted(stores) or [DEFAULT_STORE]
        return OperatorMetadata(number, "", tuple(StoreMetadata(it, count) for it in names))

    def _stores(self, number: int) -> dict[str, set[int]]:
        """The stores of an operator that have files, with their versions."""
        found: dict[str, set[int]] = {}
        for store, name in store_files(self._storage, number):
            found.setdefault(store, set()).add(name.version)
        return found

    def _has_committed(self, stores: dict[str, set[int]]) -> bool:
        """Whether a folder that no commit names has state: under format 1 none does.

        Without a description it may also be what an earlier form of the query has left.
        """
        newest = self._committed[-1] if self._committed else None
        return (
            newest is not None
            and not newest.commit.ids
            and any(it.version in found for it in self._committed[-2:] for found in stores.values())
        )

    def _check_schemas(self, operator: OperatorMetadata) -> None:
        storage = self._storage
        storage.fetch(it for store in operator.stores for it in schema_paths(operator.id, store))
        for store in operator.stores:
            (*_, path) = schema_paths(operator.id, store)
            try:
                read_state_schema(storage, operator.id, store)
                if operator.variables:
                    self._check_location(store)
            except FileMissingError as error:
                if store.schema_files:
                    self._stops(path, error)
                else:
                    self._written_again(path, error)
            except KeyfoldError as error:
                self._stops(path, error, is_written_again=not store.schema_files)

    def _check_location(self, store: StoreMetadata) -> None:
        """Spark reads schemas of a transformWithState by absolute paths, also once it was moved."""
        for path, written in zip(store.schema_files, store.schema_paths, strict=True):
            full = self._storage.full_path(path)
            if is_same_location(full, written):
                continue
            lost = is_lost(full, written)
            message = (
                f"Spark looks for this schema at the absolute path {written}, which is "
                + ("not there. " if lost else "outside of this checkpoint. ")
                + "The checkpoint was moved, or copied by other means than `keyfold clone`. Clone "
                "it, and start the query on the clone."
            )
            if lost:
                reason = "Spark looks for the schemas of the state where the checkpoint was before"
                way = "clone the checkpoint with `keyfold clone`, and start the query on the clone"
                finding = Finding(Kind.MOVED, path, message, Severity.STOPS)
                self.obstacles.append(Obstacle(reason, -1, finding, otherwise=way))
            else:
                self.findings.append(Finding(Kind.MOVED, path, message))
            return

    def _written_again(self, path: str, error: KeyfoldError) -> None:
        """A file that the query can start without."""
        if isinstance(error, FileMissingError) and self._left(path):
            self._stops(path, error, is_written_again=True)
            return
        delete = "" if isinstance(error, FileMissingError) else "Delete it if there is no copy. "
        message = f"{error.args[0]} {delete}Without it, Spark writes it when the query starts."
        self.findings.append(Finding(Kind.DAMAGED, path, message))

    def _stops(self, path: str, error: KeyfoldError, *, is_written_again: bool = False) -> None:
        finding = Finding(Kind.DAMAGED, path, str(error.args[0]), Severity.STOPS)
        reason = f"the file {path}, which is Spark's own, is damaged"
        deletes = self._left(path) if is_written_again else ()
        self.obstacles.append(Obstacle(reason, None if deletes else -1, finding, deletes))

    def _left(self, path: str) -> tuple[str, ...]:
        """What is there of a file: on a local disk Hadoop keeps a checksum of it in another.

        Spark does not write a file again beside the checksum of the old one.
        """
        folder, _, name = path.rpartition("/")
        there = {it.name for it in self._storage.listing(folder)}
        both = (name, f".{name}.crc")
        return tuple(f"{folder}/{it}" for it in both if it in there)


def is_same_location(path: str, written: str) -> bool:
    """Whether both name one file, as far as paths tell: servers have several names."""
    own, other = path_of(path), path_of(written)
    return own == other or (_is_local(path) and Path(own).resolve() == Path(other).resolve())


def is_lost(path: str, written: str) -> bool:
    """Whether `written` is not there. Only asked on a local disk: the bytes may lie."""
    return _is_local(path) and _is_local(written) and not Path(path_of(written)).exists()


def _is_local(path: str) -> bool:
    return not is_uri(path) or path.startswith("file:")
