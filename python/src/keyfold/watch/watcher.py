"""Looks at a checkpoint again and again, and reads what is new."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from keyfold.describe.batch_table import commit_times
from keyfold.errors import CheckpointDamagedError, FileMissingError
from keyfold.format.footer import Numbers
from keyfold.format.names import is_number
from keyfold.spark_log.logs import batches, offsets_or_none, query_id
from keyfold.spark_log.migrated import own_batches
from keyfold.state.store_files import Footers
from keyfold.storage.files import Listed
from keyfold.storage.storage import Storage
from keyfold.text.units import moment
from keyfold.watch.batch import WatchedBatch, summed, watched_batch
from keyfold.watch.look import RECENT, Look, operators_now, partitions_now
from keyfold.watch.reading import BatchRead, read_earlier, read_last

# Batches that are kept for plots.
_KEPT = 400


@dataclass(frozen=True)
class CommitLog:
    """The entries of a commit log as they were listed, by batch."""

    entries: dict[int, Listed] = field(default_factory=dict)

    @property
    def last(self) -> int | None:
        """The last committed batch."""
        return max(self.entries, default=None)

    @property
    def newest(self) -> Listed | None:
        """Its entry."""
        return None if self.last is None else self.entries[self.last]

    def common(self, later: CommitLog) -> int | None:
        """The last batch that a later listing has as it was; None if there is none."""
        entries = self.entries.items()
        return max((it for it, entry in entries if later.entries.get(it) == entry), default=None)

    def what_happened(self, later: CommitLog, *, same_query: bool) -> str | None:
        """Why a later listing does not go on with this one; None if it does.

        If retention has deleted all entries meanwhile, the same query has gone on.
        """
        last, common = self.last, self.common(later)
        if last is None or last == common:
            return None
        if common is not None:
            return f"rolled back from batch {last} to batch {common}"
        if not later.entries:
            return f"no batch is committed any more; batch {last} was the last"
        if same_query and min(later.entries) > last:
            return None
        return f"another query's checkpoint is here now; batch {last} was the last"


def commit_log(storage: Storage) -> CommitLog:
    """Lists the commit log. Raises StorageError."""
    found = storage.listing("commits")
    return CommitLog({int(it.name): it for it in found if not it.is_folder and is_number(it.name)})


class Watcher:
    """Looks at a checkpoint whose query may run meanwhile, also before its first batch.

    Without a new batch, a look lists the two logs. After a look that fails, the next one goes on
    from the one before.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._log: CommitLog | None = None
        self._begun: Listed | None = None
        self._doubts = False
        self._footers: Footers = {}
        # With the key groups that they have changed.
        self._recent: list[tuple[WatchedBatch, Numbers]] = []
        self._seen = Look(storage.root)

    def look(self) -> Look:
        """What there is now.

        Raises:
            KeyfoldError: the storage cannot be reached, or a log is damaged.
        """
        storage = self._storage.once()
        storage.forget()
        # The commits first: what a commit needs is in listings that are made after it.
        before, log = self._log, commit_log(storage)
        is_new = before is None or log.newest != before.newest
        # A listing may be old, or not all there, for once: what it says must last.
        is_believed, self._doubts = self._doubts, is_new and self._breaks_off(storage, log)
        if is_new and (is_believed or not self._doubts):
            self._read(storage, before or CommitLog())
            self._doubts = False
        self._read_begun(storage)
        return replace(self._seen, looked_ms=_now_ms())

    def _breaks_off(self, storage: Storage, log: CommitLog) -> bool:
        if self._log is None:
            return False
        same_query = _query(storage) == self._seen.query_id
        return self._log.what_happened(log, same_query=same_query) is not None

    def _read(self, storage: Storage, before: CommitLog) -> None:
        last = read_last(storage, self._footers)
        log, query = commit_log(storage), _query(storage)
        happened = before.what_happened(log, same_query=query == self._seen.query_id)
        note, known = self._seen.note, self._seen.batches
        if happened is not None:
            note, common = f"{moment(_now_ms())}: {happened}.", before.common(log)
            known = tuple(it for it in known if common is not None and it.batch_id <= common)
            self._recent = [it for it in self._recent if it[0] in known]
        if last is None:
            self._seen = Look(self._storage.root, query, note=note)
        else:
            new = self._new(storage, last, known)
            self._seen = self._summed(last, Look(self._storage.root, query, (*known, *new), note))
        self._begun, self._log = None, log

    def _new(
        self, storage: Storage, last: BatchRead, known: Sequence[WatchedBatch]
    ) -> list[WatchedBatch]:
        """The batches that were committed since the last look, up to the last one."""
        newest, seen = last.batch.number, known[-1].batch_id if known else -1
        numbers = [it for it in own_batches(storage) if seen < it <= newest]
        if not known:
            numbers = numbers[-RECENT:]
        storage.fetch(f"{log}/{it}" for it in numbers for log in ("commits", "offsets"))
        offsets = {it: offsets_or_none(storage, it) for it in numbers}
        times = commit_times(storage, numbers, offsets)
        read = read_earlier(storage, last, numbers[:-1], self._footers) | {newest: last}
        made, before = [], known[-1] if known else None
        for number in numbers:
            found = read.get(number)
            parts = found.parts if found else None
            before, groups = watched_batch(number, offsets[number], times[number], before, parts)
            made.append(before)
            if found:
                self._recent.append((before, groups))
        return made

    def _summed(self, last: BatchRead, seen: Look) -> Look:
        """With what there is at the last batch."""
        heads = ((it.files, it.head) for parts in last.parts.values() for it in parts if it.head)
        self._footers = {
            files.as_listed(f"{files.folder}/{head.name}"): head for files, head in heads
        }
        self._recent = self._recent[-RECENT:]
        # Before a rescale, key groups were in other partitions.
        now = last.batch.shuffle_partitions
        tables = [groups for batch, groups in self._recent if batch.partitions == now]
        return replace(
            seen,
            batches=seen.batches[-_KEPT:],
            operators=operators_now(last.parts),
            partitions=partitions_now(last.parts),
            groups=summed(tables),
            hot_batches=len(tables),
            problems=tuple(dict.fromkeys(map(str, last.problems))),
        )

    def _read_begun(self, storage: Storage) -> None:
        """The batch that has begun and is not committed, if there is one."""
        last = -1 if self._log is None or self._log.last is None else self._log.last
        number = max((it for it in batches(storage, "offsets") if it > last), default=None)
        entry = next((it for it in storage.listing("offsets") if it.name == str(number)), None)
        if entry == self._begun and number == self._seen.begun:
            return
        offsets = None if number is None else offsets_or_none(storage, number)
        self._begun = entry
        self._seen = replace(
            self._seen, begun=number, begun_ms=None if offsets is None else offsets.timestamp_ms
        )


def _query(storage: Storage) -> str | None:
    try:
        return query_id(storage)
    except (FileMissingError, CheckpointDamagedError):
        return None


def _now_ms() -> int:
    return int(time.time() * 1000)
