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
from functools import cached_property
from typing import Any

from keyfold.sinks.table_log import TableLog, TableVersion, damaged
from keyfold.storage.files import Listed
from keyfold.storage.storage import Storage
from keyfold.text.json_text import parse_json

_FOLDER = "metadata"
# Those of a folder without a catalog, and those whose newest the catalog knows.
_METADATA = re.compile(r"v?(\d+)(?:-.*?)?(?:\.gz)?\.metadata\.json(?:\.gz)?")
_QUERY, _EPOCH = "spark.sql.streaming.queryId", "spark.sql.streaming.epochId"


class IcebergLog(TableLog):
    """See `TableLog`. The metadata are read when they are asked for, and once."""

    format = "iceberg"

    def __init__(self, storage: Storage, files: Sequence[Listed]) -> None:
        """`files` are those with metadata."""
        self._storage = storage
        # The file version-hint.text may be older than the newest metadata; so it is not needed.
        self._path = f"{_FOLDER}/{max(files, key=_age).name}"

    @cached_property
    def _ancestors(self) -> list[TableVersion]:
        """The current snapshot, and those before it."""
        metadata = _object(self._storage, self._path)
        try:
            snapshots = {int(it["snapshot-id"]): it for it in metadata.get("snapshots") or ()}
            found = []
            at = metadata.get("current-snapshot-id")
            while at is not None and int(at) in snapshots:
                snapshot = snapshots.pop(int(at))
                found.append(_version(snapshot))
                at = snapshot.get("parent-snapshot-id")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise damaged(self._storage, self._path, "its snapshots are not a table's") from error
        return found

    def applications(self) -> dict[str, int]:
        """As `TableLog`."""
        found: dict[str, int] = {}
        for it in self._ancestors:
            found = it.batches | found
        return found

    def history(self) -> Iterator[TableVersion]:
        """As `TableLog`."""
        yield from self._ancestors

    def can_restore(self, version: int) -> bool:
        """As `TableLog`: a snapshot that the metadata have is whole."""
        return any(it.version == version for it in self._ancestors)

    def restore(self, place: str, version: int) -> str:
        """As `TableLog`. The names of catalog and table are known to the user alone."""
        del place
        return f"CALL <catalog>.system.rollback_to_snapshot('<table>', {version})"

    def undo(self, place: str, version: int) -> str:
        """As `TableLog`. That snapshot is no ancestor then."""
        del place
        return f"CALL <catalog>.system.set_current_snapshot('<table>', {version})"


def iceberg_log(storage: Storage) -> IcebergLog | None:
    """The log of a table; None if there is none. Raises StorageError."""
    files = [it for it in storage.listing(_FOLDER) if _METADATA.fullmatch(it.name)]
    return IcebergLog(storage, files) if files else None


def _age(file: Listed) -> tuple[int, int]:
    """A commit that has lost may have left metadata under the number of the newest."""
    number = _METADATA.fullmatch(file.name)
    return int(number[1]) if number else -1, file.modified or 0


def _version(snapshot: dict[str, Any]) -> TableVersion:
    summary = snapshot.get("summary") or {}
    batches = {str(summary[_QUERY]): int(summary[_EPOCH])} if _QUERY in summary else {}
    operation = str(summary.get("operation", ""))
    replaces = bool(batches) and operation == "overwrite"
    return TableVersion(int(snapshot["snapshot-id"]), operation, batches, replaces)


def _object(storage: Storage, path: str) -> dict[str, Any]:
    content = storage.whole(path)
    try:
        text = gzip.decompress(content) if ".gz" in path else content
        found = parse_json(text.decode())
    except (EOFError, OSError, ValueError, zlib.error) as error:
        raise damaged(storage, path, f"it is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise damaged(storage, path, "it is not a JSON object")
    return found
