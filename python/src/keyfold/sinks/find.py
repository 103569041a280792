"""Finds the table that a query writes to, and its version as of a batch."""

from __future__ import annotations

import re
from contextlib import suppress

from keyfold.errors import CheckpointDamagedError, FileMissingError
from keyfold.sinks.delta import delta_log
from keyfold.sinks.iceberg import iceberg_log
from keyfold.sinks.sink_table import SinkTable
from keyfold.sinks.table_log import TableVersion
from keyfold.spark_log.logs import query_id
from keyfold.storage.storage import Storage

_FOLDER = "keyfold"
_ALL = 1 << 62
_SYNCED = re.compile(r"^query ([0-9a-f-]{36})$", re.MULTILINE)
_COMMIT = re.compile(r"^[0-9a-f]{8} commits/(\d{1,18})$", re.MULTILINE)
_ROLLBACK = re.compile(r"rollback-(\d{1,18})-[0-9a-f-]+")


def find_table(folder: Storage, checkpoint: Storage, batch: int) -> SinkTable | None:
    """The Delta or Iceberg table in a folder, and its version as of a batch of a query.

    Args:
        folder: the table's folder.
        checkpoint: that of the query.
        batch: a batch of the query.

    Returns:
        None if it is no table.

    Raises:
        InvalidArgumentError: the newest commits are not in the log of the table.
        TableDamagedError: the log of the table cannot be parsed.
        FileMissingError: the id of the query is lost.
        CheckpointDamagedError: the id of the query cannot be parsed.
        StorageError: a file cannot be read.
    """
    # As it is shown: a URI may have credentials in it.
    place, folder = folder.root, folder.once()
    log = delta_log(folder) or iceberg_log(folder)
    if log is None:
        return None
    ids = query_ids(checkpoint.once())
    applications = log.applications()
    # An id that the table has forgotten may still be in a version.
    is_known = not ids.keys().isdisjoint(applications) or (
        log.forgets_ids() and any(_batches(it, ids) for it in log.history())
    )
    found: TableVersion | None = None
    since: list[TableVersion] = []
    taken: list[TableVersion] = []
    # No version is missing between two of these. So the first that has an earlier batch is the
    # table as of this batch, too: the batch of a rescale or of a migration writes no version.
    for it in log.history() if is_known else ():
        if it.taken_back:
            taken.append(it)
        elif any(number <= batch for number in _counting(it, ids)):
            found = it
            break
        else:
            since.append(it)
    has = max(_batches(found, ids)) if found else -1
    # Of complete mode, the next batch has all rows again.
    behind = {
        number: it
        for it in reversed(taken)
        for number in _counting(it, ids)
        if has < number <= batch and not it.replaces
    }
    later = [it for it in since if not it.batches.keys().isdisjoint(ids)]
    # What others wrote before the first later batch stays.
    kept = since[since.index(later[-1]) + 1 :] if later else since
    if not (found or behind) and later and kept and min(_batches(later[-1], ids)) == batch + 1:
        # The batch of a clone was written under another id, and the clone found it in the table.
        found, kept, has = kept[0], [], batch
    ahead, strangers = _ahead(behind, taken, since, found, ids)
    others = [it for it in since[: since.index(later[-1])] if it not in later] if later else []
    target = kept[0] if found and later and kept else found
    if target and not log.can_restore(target.version):
        found = target = None
    query = next(app for app, last in ids.items() if last is None)
    back = target if later else None
    newest = next((it for it in log.history() if not it.taken_back), None)
    aims = [
        it if it and log.can_restore(it.version) else None
        for it in (back, newest if back else None, ahead)
    ]
    name = place.rstrip("/").replace("`", "``")
    restore, undo, forward = (
        command.format(name=name, version=it.version) if it else None
        for command, it in zip((log.restore, log.undo, log.undo), aims, strict=True)
    )

    return SinkTable(
        format=log.format,
        path=place,
        newest=None if newest is None else newest.version,
        batch=None if found is None else has,
        version=None if target is None else target.version,
        later=tuple(it.version for it in reversed(later)),
        others=tuple(reversed(others)),
        kept=tuple(reversed(kept)) if found else (),
        replaces=bool(later) and all(it.replaces for it in later),
        query=query,
        rolled_back=bool(later) and all(query not in it.batches for it in later),
        known=is_known,
        applications={} if is_known else applications,
        restore=restore,
        undo=undo,
        branches={
            branch: tuple(sorted({number for app, number in its if app in ids}))
            for branch, its in log.branches().items()
            if not ids.keys().isdisjoint(app for app, _ in its)
        },
        behind=tuple(sorted(behind)),
        forward=forward,
        strangers=strangers,
        outdated=tuple(sorted({it.version for it in aims if it and log.is_outdated(it)})),
    )


def _ahead(
    behind: dict[int, TableVersion],
    taken: list[TableVersion],
    since: list[TableVersion],
    found: TableVersion | None,
    ids: dict[str, int | None],
) -> tuple[TableVersion | None, tuple[str, ...]]:
    """The version that has all batches that the table lacks, and no more; None if there is none.

    And the ids of others whose batches come back, or are lost, on the way to it.
    """
    if not behind:
        return None, ()
    last = behind[max(behind)]
    left, gained, at = {it.version: it for it in taken}, list[TableVersion](), last.version
    while at in left:
        gained.append(left.pop(at))
        at = gained[-1].parent
    strangers = {app for it in (*gained, *since) for app in it.batches if app not in ids}
    brings = [it for it in reversed(gained) if it.batches] == [behind[it] for it in sorted(behind)]
    # The way there must start from what the table has now, or from nothing.
    has = {it.version for it in (found, *since) if it}
    stays = not has or at in has
    return last if brings and stays and not strangers else None, tuple(sorted(strangers))


def _batches(version: TableVersion, ids: dict[str, int | None]) -> list[int]:
    """Those of the query."""
    return [number for app, number in version.batches.items() if app in ids]


def _counting(version: TableVersion, ids: dict[str, int | None]) -> list[int]:
    """Those of the query that no rollback has set aside."""
    its = [(number, ids[app]) for app, number in version.batches.items() if app in ids]
    return [number for number, last in its if last is None or number <= last]


def query_ids(storage: Storage) -> dict[str, int | None]:
    """For each id of the query the last batch that still counts; None for the current id.

    A rollback or a sync has given it a new one, and kept the one before.

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
