"""The ids of a query: a rollback or a sync has given it a new one, and kept the one before."""

from __future__ import annotations

import re
from contextlib import suppress

from keyfold.errors import CheckpointDamagedError, FileMissingError
from keyfold.spark_log.logs import query_id
from keyfold.storage.storage import Storage

_FOLDER = "keyfold"
_ALL = 1 << 62
_SYNCED = re.compile(r"^query ([0-9a-f-]{36})$", re.MULTILINE)
_COMMIT = re.compile(r"^[0-9a-f]{8} commits/(\d{1,18})$", re.MULTILINE)
_ROLLBACK = re.compile(r"rollback-(\d{1,18})-[0-9a-f-]+")


def query_ids(storage: Storage) -> dict[str, int | None]:
    """For each id of the query the last batch that still counts; None for the current id.

    Raises FileMissingError or CheckpointDamagedError if the current id cannot be read.
    """
    names = [it.name for it in storage.listing(_FOLDER)]
    rollbacks = {it: int(found[1]) for it in names if (found := _ROLLBACK.fullmatch(it))}
    ids: dict[str, int | None] = {}
    for name in rollbacks:
        # An undo has put the file back.
        with suppress(FileMissingError, CheckpointDamagedError):
            ids[query_id(storage, f"{_FOLDER}/{name}/metadata")] = _last(storage, rollbacks, name)
    with suppress(FileMissingError):
        synced = storage.content(f"{_FOLDER}/synced").decode("utf-8", "replace")
        last = max(map(int, _COMMIT.findall(synced)), default=-1)
        ids |= dict.fromkeys(_SYNCED.findall(synced), last)
    return ids | {query_id(storage): None}


def _last(storage: Storage, rollbacks: dict[str, int], name: str) -> int:
    """The last batch that a rollback has left, or that a later one has left of these.

    One that broke off has taken some batches only, or given the query a new id and taken none.
    """
    taken = [it.name for it in storage.listing(f"{_FOLDER}/{name}/offsets")]
    batch = min((int(it) for it in taken if it.isdecimal()), default=_ALL) - 1
    with suppress(FileMissingError):
        base = storage.content(f"{_FOLDER}/{name}/base")
        for other in (it for it in rollbacks if rollbacks[it] < batch):
            with suppress(FileMissingError):
                if storage.content(f"{_FOLDER}/{other}/offsets/{batch}") == base:
                    return _last(storage, rollbacks, other)
    return batch
