"""Finds files and folders in a checkpoint's state that belong to no store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from keyfold.format.location import DEFAULT_STORE
from keyfold.format.names import parse_name
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


def strays(
    storage: Storage,
    operators: list[OperatorMetadata],
    partitions: dict[int, int],
    last: int,
    earlier: Earlier | None,
) -> Iterator[Finding]:
    """Folders and files that no store of the query has.

    Args:
        storage: the checkpoint.
        operators: those that Spark describes.
        partitions: partitions of each operator over all retained batches.
        last: the newest version that a batch which has started may write.
        earlier: batches from before a migration. While there are any, the files of their provider
        are needed to undo the migration and to read them.
    """
    storage.fetch(listings=[*_LOGS, "sources"])
    sources = [f"sources/{it.name}" for it in storage.listing("sources") if it.is_folder]
    storage.fetch(listings=sources)
    for folder in (*_LOGS, *sources):
        yield from _unfinished(storage, folder)
    known = {str(operator.id): operator for operator in operators}
    for entry in _visible(storage.listing("state")):
        operator = known.get(entry.name)
        if operator is None:
            # An operator whose metadata cannot be read is reported elsewhere.
            if not storage.listing(f"state/{entry.name}/_metadata"):
                yield _orphan(storage, f"state/{entry.name}", "the query has no such operator")
            continue
        for folder in ("_metadata", "_metadata/v2", "0/_metadata", "_stateSchema/default"):
            yield from _unfinished(storage, f"state/{operator.id}/{folder}")
        its = _Operator(storage, operator, partitions.get(operator.id, 1), last, earlier)
        folders = _visible(storage.listing(f"state/{operator.id}"))
        for found in storage.side_by_side(its.strays, folders):
            yield from found


@dataclass(frozen=True)
class _Operator:
    """An operator, and what is known of its partitions and versions."""

    storage: Storage
    operator: OperatorMetadata
    partitions: int
    last: int
    earlier: Earlier | None

    def strays(self, folder: Listed) -> list[Finding]:
        """Those in one of its folders."""
        path = f"state/{self.operator.id}/{folder.name}"
        number = int(folder.name) if folder.name.isdecimal() else -1
        if not folder.is_folder or number < 0:
            return [_orphan(self.storage, path, "it is not a partition's folder")]
        if number >= self.partitions and self._has_state(path):
            why = f"operator {self.operator.id} has no partition {number}"
            return [_orphan(self.storage, path, why)]
        return list(self._in_partition(path))

    def _has_state(self, path: str) -> bool:
        entries = self.storage.listing(path)
        return any(not it.is_folder or it.name != "_metadata" for it in entries)

    def _in_partition(self, path: str) -> Iterator[Finding]:
        stores = {store.name for store in self.operator.stores}
        yield from _unfinished(self.storage, path)
        for entry in _visible(self.storage.listing(path)):
            here = f"{path}/{entry.name}"
            if entry.is_folder and entry.name in stores:
                yield from _unfinished(self.storage, here)
                for file in _visible(self.storage.listing(here)):
                    yield from self._entry(f"{here}/{file.name}", file)
            elif entry.is_folder and entry.name != _ROCKSDB_FOLDER:
                yield _orphan(self.storage, here, "the operator has no such store")
            elif DEFAULT_STORE not in stores:
                yield _orphan(self.storage, here, "the operator has no store of the default name")
            else:
                yield from self._entry(here, entry)

    def _entry(self, path: str, entry: Listed) -> Iterator[Finding]:
        name = None if entry.is_folder else parse_name(entry.name)
        why = ""
        if entry.name == _ROCKSDB_FOLDER or _ROCKSDB_FILE.fullmatch(entry.name):
            if self.earlier is None:
                why = "RocksDB wrote it before the checkpoint was migrated"
        elif name is None:
            why = "neither Keyfold nor Spark has written it"
        elif name.version > self.last:
            why = f"no batch that makes version {name.version} has started"
        if why:
            yield _orphan(self.storage, path, why)


def _unfinished(storage: Storage, folder: str) -> Iterator[Finding]:
    """Temporary files in a folder, of writers that were killed or are still writing."""
    for entry in storage.listing(folder):
        if not entry.is_folder and _TEMPORARY.fullmatch(entry.name):
            path = f"{folder}/{entry.name}" if folder else entry.name
            yield _orphan(storage, path, "its writer was killed, or has not finished yet")


def _visible(entries: list[Listed]) -> list[Listed]:
    return [it for it in entries if it.name[0] not in "._" and not it.name.endswith(".crc")]


def _orphan(storage: Storage, path: str, why: str) -> Finding:
    return Finding(
        Kind.UNREFERENCED, storage.full_path(path), f"{why}. It takes disk space and is never read."
    )
