"""Finds files and folders in a checkpoint's state that belong to no store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from keyfold.format.names import parse_name
from keyfold.format.place import DEFAULT_STORE
from keyfold.fsck.finding import Finding, Kind
from keyfold.spark_log.logs import OperatorMetadata
from keyfold.spark_log.migrated import Earlier
from keyfold.state.walk import THREADS
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
        yield from _unfinished(storage, folder, storage.listing(folder))
    known = {str(operator.id): operator for operator in operators}
    for entry in _visible(storage.listing("state")):
        operator = known.get(entry.name)
        if operator is None:
            # An operator whose metadata cannot be read is reported elsewhere.
            if not storage.listing(f"state/{entry.name}/_metadata"):
                yield _orphan(storage, f"state/{entry.name}", "the query has no such operator")
            continue
        for folder in ("_metadata", "_metadata/v2", "0/_metadata", "_stateSchema/default"):
            path = f"state/{operator.id}/{folder}"
            yield from _unfinished(storage, path, storage.listing(path))
        folders = _visible(storage.listing(f"state/{operator.id}"))
        look = partial(
            _in_operator,
            storage=storage,
            operator=operator,
            partitions=partitions.get(operator.id, 1),
            last=last,
            earlier=earlier,
        )
        with ThreadPoolExecutor(THREADS) as pool:
            for found in pool.map(look, folders):
                yield from found


def _in_operator(  # noqa: PLR0913 - a folder, and what is known
    folder: Listed,
    *,
    storage: Storage,
    operator: OperatorMetadata,
    partitions: int,
    last: int,
    earlier: Earlier | None,
) -> list[Finding]:
    path = f"state/{operator.id}/{folder.name}"
    number = int(folder.name) if folder.name.isdecimal() else -1
    if not folder.is_folder or number < 0:
        return [_orphan(storage, path, "it is not a partition's folder")]
    if number >= partitions and _has_state(storage, path):
        return [_orphan(storage, path, f"operator {operator.id} has no partition {number}")]
    stores = {store.name for store in operator.stores}
    return list(_in_partition(storage, path, stores, last, earlier))


def _in_partition(
    storage: Storage, path: str, stores: set[str], last: int, earlier: Earlier | None
) -> Iterator[Finding]:
    entries = storage.listing(path)
    yield from _unfinished(storage, path, entries)
    for entry in _visible(entries):
        here = f"{path}/{entry.name}"
        if entry.is_folder and entry.name in stores:
            files = storage.listing(here)
            yield from _unfinished(storage, here, files)
            for file in _visible(files):
                yield from _entry(storage, f"{here}/{file.name}", file, last, earlier)
        elif entry.is_folder and entry.name != _ROCKSDB_FOLDER:
            yield _orphan(storage, here, "the operator has no such store")
        elif DEFAULT_STORE not in stores:
            yield _orphan(storage, here, "the operator has no store of the default name")
        else:
            yield from _entry(storage, here, entry, last, earlier)


def _entry(
    storage: Storage, path: str, entry: Listed, last: int, earlier: Earlier | None
) -> Iterator[Finding]:
    name = None if entry.is_folder else parse_name(entry.name)
    if entry.name == _ROCKSDB_FOLDER or _ROCKSDB_FILE.fullmatch(entry.name):
        if earlier is None:
            yield _orphan(storage, path, "RocksDB wrote it before the checkpoint was migrated")
    elif name is None:
        yield _orphan(storage, path, "neither Keyfold nor Spark has written it")
    elif name.version > last:
        yield _orphan(storage, path, f"no batch that makes version {name.version} has started")


def _unfinished(storage: Storage, folder: str, entries: list[Listed]) -> Iterator[Finding]:
    """Temporary files in a folder, of writers that were killed or are still writing."""
    for entry in entries:
        if not entry.is_folder and _TEMPORARY.fullmatch(entry.name):
            path = f"{folder}/{entry.name}" if folder else entry.name
            yield _orphan(storage, path, "its writer was killed, or has not finished yet")


def _has_state(storage: Storage, path: str) -> bool:
    return any(not it.is_folder or it.name != "_metadata" for it in storage.listing(path))


def _visible(entries: list[Listed]) -> list[Listed]:
    return [it for it in entries if it.name[0] not in "._" and not it.name.endswith(".crc")]


def _orphan(storage: Storage, path: str, why: str) -> Finding:
    return Finding(
        Kind.UNREFERENCED, storage.full_path(path), f"{why}. It takes disk space and is never read."
    )
