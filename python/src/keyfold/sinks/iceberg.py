"""The metadata of an Iceberg table: a file for each state of it, with the snapshots that it keeps.

A streaming query writes its id and the number of the batch into the summary of the snapshot, also
for a batch without rows. Iceberg looks for the id among the ancestors of the current snapshot, and
skips a batch that is not newer.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from keyfold.sinks.table_log import TableVersion, damaged
from keyfold.storage.files import Listed
from keyfold.storage.storage import Storage
from keyfold.text.json_text import parse_object

_FOLDER = "metadata"
# Those of a folder without a catalog, and those of which only the catalog knows the current one. A
# UUID alone is the name of metadata whose commit to a folder is not done.
_OF_FOLDER = re.compile(r"v(\d+)(?:\.gz)?\.metadata\.json(?:\.gz)?")
_OF_CATALOG = re.compile(r"(\d{5,7})-.*\.metadata\.json(?:\.gz)?")
_MAIN = "main"
_HINT = "version-hint.text"
_QUERY, _EPOCH = "spark.sql.streaming.queryId", "spark.sql.streaming.epochId"


class IcebergLog:
    """The log of a table. The metadata are read when they are asked for, and once."""

    format = "iceberg"
    # The names of catalog and table are known to the user alone. Once it was taken back, the newest
    # snapshot is none of the ancestors.
    restore = "CALL <catalog>.system.rollback_to_snapshot('<table>', {version})"
    undo = "CALL <catalog>.system.set_current_snapshot('<table>', {version})"

    def __init__(self, storage: Storage, files: Sequence[Listed]) -> None:
        """`files` are those in the folder of the metadata."""
        self._storage = storage
        self._files = files

    @cached_property
    def _branches(self) -> dict[str | None, list[TableVersion]]:
        """The snapshots of each branch, newest first, and those of none."""
        path, metadata = self._metadata()
        try:
            snapshots = {int(it["snapshot-id"]): it for it in metadata.get("snapshots") or ()}
            refs = (metadata.get("refs") or {}).items()
            heads = {name: it["snapshot-id"] for name, it in refs if it["type"] == "branch"}
            heads[_MAIN] = metadata.get("current-snapshot-id")
            chains = {name: _chain(snapshots, at) for name, at in heads.items()}
            main = chains[_MAIN]
            oldest = next(reversed(main), None)
            if oldest is not None and main[oldest].parent != -1:
                # Main may have had all before it, which expired there and was kept elsewhere.
                known = list(snapshots)[list(snapshots).index(oldest) :]
                snapshots = {it: snapshots[it] for it in known}
                for name in chains.keys() - {_MAIN}:
                    its = chains[name].items()
                    chains[name] = {it: version for it, version in its if it in snapshots}
            left = snapshots.keys() - {number for its in chains.values() for number in its}
            others = [
                replace(_version(it), taken_back=True)
                for number, it in reversed(snapshots.items())
                if number in left
            ]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise damaged(self._storage, path, "its snapshots are not a table's") from error
        return {**{name: list(its.values()) for name, its in chains.items()}, None: others}

    def _metadata(self) -> tuple[str, dict[str, Any]]:
        """The current metadata, and their path."""
        of_folder = _numbered(_OF_FOLDER, self._files)
        of_catalog = _numbered(_OF_CATALOG, self._files)
        names = set()
        if of_folder:
            names.add(self._current(of_folder))
        if of_catalog:
            # A table that is made anew, or that another catalog takes over, counts from 0 again.
            names.add(max(of_catalog, key=lambda it: (it[0], it[1].modified or 0))[1].name)
            names.add(max(of_catalog, key=lambda it: (it[1].modified or 0, it[0]))[1].name)
        found = {it: _object(self._storage, it) for it in (f"{_FOLDER}/{it}" for it in names)}
        return max(found.items(), key=lambda it: _updated(it[1]))

    def _current(self, numbered: Sequence[tuple[int, Listed]]) -> str:
        """As Iceberg finds it: from the hint on, which may be older, or else the largest number."""
        names = {number: it.name for number, it in numbered}
        at = max(names)
        if any(it.name == _HINT for it in self._files):
            hint = self._storage.text(f"{_FOLDER}/{_HINT}").partition("\n")[0].strip()
            at = int(hint) if hint.isdecimal() and int(hint) in names else at
        while at + 1 in names:
            at += 1
        return names[at]

    def applications(self) -> dict[str, int]:
        """As `DeltaLog`."""
        found: dict[str, int] = {}
        for it in self._branches[_MAIN]:
            found = it.batches | found
        return found

    def history(self) -> Iterator[TableVersion]:
        """Those that are taken back; then those that led to the current one, until an expired one.

        The newest is the first of each.
        """
        yield from self._branches[None]
        yield from self._branches[_MAIN]

    def branches(self) -> dict[str, set[tuple[str, int]]]:
        """By name of each other branch the ids and batches that main lacks."""
        of_main = {batch for it in self._branches[_MAIN] for batch in it.batches.items()}
        return {
            name: {batch for it in its for batch in it.batches.items()} - of_main
            for name, its in self._branches.items()
            if name is not None
        }

    def can_restore(self, version: int) -> bool:
        """As `DeltaLog`: a snapshot that the metadata have is whole."""
        return any(it.version == version for it in self.history())

    def forgets_ids(self) -> bool:
        """As `DeltaLog`: of what is expired or was taken back."""
        return True

    def is_outdated(self, _: TableVersion) -> bool:
        """As `DeltaLog`: of no snapshot that is not expired."""
        return False


def iceberg_log(storage: Storage) -> IcebergLog | None:
    """The log of a table; None if there is none. Raises StorageError."""
    files = storage.listing(_FOLDER)
    is_table = _numbered(_OF_FOLDER, files) or _numbered(_OF_CATALOG, files)
    return IcebergLog(storage, files) if is_table else None


def _numbered(names: re.Pattern[str], files: Sequence[Listed]) -> list[tuple[int, Listed]]:
    return [(int(found[1]), it) for it in files if (found := names.fullmatch(it.name))]


def _updated(metadata: dict[str, Any]) -> int:
    """In ms since 1970."""
    found = metadata.get("last-updated-ms")
    return found if isinstance(found, int) else 0


def _chain(snapshots: dict[int, Any], at: int | None) -> dict[int, TableVersion]:
    """A snapshot and those before it, until one that is not there."""
    found: dict[int, TableVersion] = {}
    while at is not None and int(at) in snapshots and int(at) not in found:
        version = found[int(at)] = _version(snapshots[int(at)])
        at = version.parent
    return found


def _version(snapshot: dict[str, Any]) -> TableVersion:
    summary = snapshot.get("summary") or {}
    has = _QUERY in summary and _EPOCH in summary
    batches = {str(summary[_QUERY]): int(summary[_EPOCH])} if has else {}
    operation = str(summary.get("operation", ""))
    replaces = bool(batches) and operation == "overwrite"
    parent = snapshot.get("parent-snapshot-id")
    parent = -1 if parent is None else int(parent)
    return TableVersion(int(snapshot["snapshot-id"]), operation, batches, replaces, parent=parent)


def _object(storage: Storage, path: str) -> dict[str, Any]:
    content = storage.whole(path)
    try:
        text = gzip.decompress(content) if ".gz" in path else content
        return parse_object(text.decode())
    except (EOFError, OSError, ValueError, zlib.error) as error:
        raise damaged(storage, path, f"it is not an object of JSON: {error}") from error
