"""Finds files and folders in a checkpoint's state that belong to no store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TypeAlias

from keyfold.format.names import DEFAULT_STORE, parse_name
from keyfold.fsck.finding import Finding, Kind
from keyfold.spark_log.logs import OperatorMetadata
from keyfold.spark_log.migrated import Earlier
from keyfold.storage.files import Listed
from keyfold.storage.storage import Storage

# Files of Spark's RocksDB provider in a store's folder, which a migration leaves there.
_ROCKSDB_FOLDER = "SSTs"
_ROCKSDB_FILE = re.compile(r"\d+(_[^/.]+)*\.(zip|changelog)")
# Names of unfinished files of Spark's checkpoint file manager.
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\.TID\d+)?\.tmp")
# Folders beside the state that a query or an operation on its checkpoint writes to.
_LOGS = ("", "offsets", "commits", "keyfold")

# A path in the checkpoint, and why nothing needs it.
Stray: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class Tree:
    """The files and folders of a checkpoint's state.

    Attributes:
        storage: the checkpoint.
        operators: those that Spark describes.
        partitions: partitions of each operator over all retained batches.
        last: the newest version that a batch which has started may write.
        earlier: batches from before a migration. While there are any, the files of their provider
            are needed to undo the migration and to read them.
    """

    storage: Storage
    operators: list[OperatorMetadata]
    partitions: dict[int, int]
    last: int
    earlier: Earlier | None

    def strays(self) -> Iterator[Finding]:
        """Folders and files that no store of the query has."""
        for path, why in self._strays():
            message = f"{why}. It takes disk space and is never read."
            yield Finding(Kind.UNREFERENCED, path, message)

    def _strays(self) -> Iterator[Stray]:
        storage = self.storage
        storage.fetch(listings=[*_LOGS, "sources"])
        sources = [f"sources/{it.name}" for it in storage.listing("sources") if it.is_folder]
        storage.fetch(listings=sources)
        for folder in (*_LOGS, *sources):
            yield from self._unfinished(folder)
        known = {str(operator.id): operator for operator in self.operators}
        for entry in self._visible("state"):
            path = f"state/{entry.name}"
            operator = known.get(entry.name)
            if operator is None:
                # An operator whose metadata cannot be read is reported elsewhere.
                if not storage.listing(f"{path}/_metadata"):
                    yield path, "the query has no such operator"
                continue
            for folder in ("_metadata", "_metadata/v2", "0/_metadata", "_stateSchema/default"):
                yield from self._unfinished(f"{path}/{folder}")
            in_folder = partial(self._in_folder, operator)
            yield from chain.from_iterable(storage.side_by_side(in_folder, self._visible(path)))

    def _in_folder(self, operator: OperatorMetadata, folder: Listed) -> list[Stray]:
        path = f"state/{operator.id}/{folder.name}"
        number = int(folder.name) if folder.name.isdecimal() else -1
        if not folder.is_folder or number < 0:
            return [(path, "it is not a partition's folder")]
        if number >= self.partitions.get(operator.id, 1) and self._has_state(path):
            return [(path, f"operator {operator.id} has no partition {number}")]
        return list(self._in_partition(operator, path))

    def _has_state(self, path: str) -> bool:
        entries = self.storage.listing(path)
        return any(not it.is_folder or it.name != "_metadata" for it in entries)

    def _in_partition(self, operator: OperatorMetadata, path: str) -> Iterator[Stray]:
        stores = {store.name for store in operator.stores}
        yield from self._unfinished(path)
        for entry in self._visible(path):
            here = f"{path}/{entry.name}"
            if entry.is_folder and entry.name in stores:
                yield from self._unfinished(here)
                for file in self._visible(here):
                    yield from self._in_store(f"{here}/{file.name}", file)
            elif entry.is_folder and entry.name != _ROCKSDB_FOLDER:
                yield here, "the operator has no such store"
            elif DEFAULT_STORE not in stores:
                yield here, "the operator has no store of the default name"
            else:
                yield from self._in_store(here, entry)

    def _in_store(self, path: str, entry: Listed) -> Iterator[Stray]:
        name = None if entry.is_folder else parse_name(entry.name)
        if entry.name == _ROCKSDB_FOLDER or _ROCKSDB_FILE.fullmatch(entry.name):
            if self.earlier is None:
                yield path, "RocksDB wrote it before the checkpoint was migrated"
        elif name is None:
            yield path, "neither Keyfold nor Spark has written it"
        elif name.version > self.last:
            yield path, f"no batch that makes version {name.version} has started"

    def _unfinished(self, folder: str) -> Iterator[Stray]:
        """Temporary files in a folder, of writers that were killed or are still writing."""
        for entry in self.storage.listing(folder):
            if not entry.is_folder and _TEMPORARY.fullmatch(entry.name):
                path = f"{folder}/{entry.name}" if folder else entry.name
                yield path, "its writer was killed, or has not finished yet"

    def _visible(self, folder: str) -> list[Listed]:
        entries = self.storage.listing(folder)
        return [it for it in entries if it.name[0] not in "._" and not it.name.endswith(".crc")]
