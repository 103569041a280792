"""Finds damage in the logs of file sources, from which a query knows which files it has read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from keyfold.errors import FileMissingError
from keyfold.fsck.finding import Finding, Kind, Severity
from keyfold.fsck.obstacle import Obstacle
from keyfold.spark_log.logs import Offsets
from keyfold.storage.storage import Storage

_ENTRY = re.compile(r"(\d{1,18})(\.compact)?")
# On a local disk Hadoop keeps an entry's checksum beside it, even if the entry is lost.
_CHECKSUM = re.compile(r"\.(\d{1,18})(\.compact)?\.crc")


@dataclass(frozen=True)
class DamagedSource:
    """The log of a file source, with an entry that Spark needs and cannot read.

    Attributes:
        name: of its folder in `sources`.
        good: the newest entry before that; -1 if there is none.
        bad: path of the entry.
        later: paths of the entries from it on that are there, and of their checksums.
    """

    name: str
    good: int
    bad: str
    later: tuple[str, ...]

    def obstacle(self, storage: Storage, offsets: Mapping[int, Offsets]) -> Obstacle:
        """What helps; `offsets` has the batches of the offset log that can be read.

        Without the entries from the damaged one on, Spark lists their files as new.
        """
        batches = [
            it for it, of in offsets.items() if dict(of.files).get(self.name, -1) <= self.good
        ]
        newest = None if max(offsets) in batches else max(batches, default=-1)
        reason = f"the log of the file source in sources/{self.name} is damaged"
        return Obstacle(reason, newest, tuple(map(storage.full_path, self.later)))

    def finding(self, storage: Storage) -> Finding:
        """The entry."""
        return Finding(
            Kind.METADATA if self.bad in self.later else Kind.MISSING,
            storage.full_path(self.bad),
            "Spark cannot read this entry of the log of a file source, which says which files the "
            "query has read. Restore it from a copy.",
            Severity.STOPS,
        )


def file_sources(storage: Storage, newest: Offsets) -> Iterator[DamagedSource]:
    """The damaged logs of the file sources that a batch has read from."""
    for name, needed in newest.files:
        found = _source(storage, name, needed)
        if found is not None:
            yield found


def _source(storage: Storage, name: str, needed: int) -> DamagedSource | None:
    folder = f"sources/{name}"
    found = (_ENTRY.fullmatch(it.name) for it in storage.listing(folder) if not it.is_folder)
    # Where there are both, the compacted one was written in place of the other.
    entries = {int(it[1]): it[0] for it in sorted(filter(None, found), key=lambda it: it[0])}
    good = next(
        (
            last
            for first in _beginnings(entries)
            if (last := _end(storage, folder, entries, first)) >= 0
        ),
        -1,
    )
    later = tuple(f"{folder}/{entries[it]}" for it in sorted(entries) if it > good)
    if good >= needed and not later:
        return None
    checksums = filter(None, (_CHECKSUM.fullmatch(it.name) for it in storage.listing(folder)))
    left = tuple(f"{folder}/{it[0]}" for it in checksums if int(it[1]) > good)
    first = f"{folder}/{entries.get(good + 1, good + 1)}"
    return DamagedSource(name, good, first, (*later, *left))


def _beginnings(entries: Mapping[int, str]) -> list[int]:
    """Entries at which Spark can begin to read, newest first: a compacted one has all before it."""
    return [*sorted((n for n, it in entries.items() if it.endswith(".compact")), reverse=True), 0]


def _end(storage: Storage, folder: str, entries: Mapping[int, str], first: int) -> int:
    """The last of the entries from the first on that are whole, without a gap; -1 if none is."""
    last = first
    while last in entries and _is_whole(storage, f"{folder}/{entries[last]}", last):
        last += 1
    return last - 1 if last > first else -1


def _is_whole(storage: Storage, path: str, number: int) -> bool:
    try:
        version, *files = storage.whole(path).decode(errors="replace").splitlines() or [""]
        # A torn entry ends in the middle of a line.
        last = json.loads(files[-1]) if files else {}
    except (FileMissingError, ValueError):
        return False
    if version != "v1" or not isinstance(last, dict):
        return False
    # Each file says in which entry it came; a compacted one has those of all before it.
    return path.endswith(".compact") or last.get("batchId", number) == number
