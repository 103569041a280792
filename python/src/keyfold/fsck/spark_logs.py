"""Finds damage in Spark's own logs of a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from keyfold.errors import FileMissingError, KeyfoldError
from keyfold.fsck.finding import Finding, Kind, Severity
from keyfold.spark_log.batch import Batch
from keyfold.spark_log.logs import Offsets, batches, read_commit, read_offsets
from keyfold.storage.storage import Storage

T = TypeVar("T")


@dataclass(frozen=True)
class Logs:
    """What can be read of Spark's logs.

    Attributes:
        committed: the batches of the commit log, ascending.
        offsets: the batches of the offset log.
        newest: number of the newest entry of the offset log, readable or not; -1 if there is none.
        last: the same of the commit log.
    """

    committed: list[Batch]
    offsets: dict[int, Offsets]
    newest: int
    last: int

    @property
    def own(self) -> list[Batch]:
        """The committed batches whose state is Keyfold's, as far as is known."""
        return [it for it in self.committed if it.offsets is None or it.offsets.is_keyfolds]

    @property
    def can_begin(self) -> bool:
        """Whether Spark can read the last commit, and the offsets that it begins with."""
        is_there = self.committed and self.committed[-1].number == self.last
        return bool(is_there) and _needed(self.newest, self.last) <= self.offsets.keys()


def _needed(newest: int, last: int) -> set[int]:
    """The batches whose offsets Spark begins with.

    With a batch that was begun after the last it needs the offsets of these two, else those of the
    last one and the one before it.
    """
    return {last} if newest > last else {last, max(last - 1, 0)}


def read_logs(storage: Storage) -> tuple[Logs, list[Finding]]:
    """The logs, and findings about what cannot be read."""
    committed, begun = batches(storage, "commits"), batches(storage, "offsets")
    storage.fetch([f"commits/{it}" for it in committed] + [f"offsets/{it}" for it in begun])
    newest, last = max(begun, default=-1), max(committed, default=-1)
    stops = {f"commits/{last}", *(f"offsets/{it}" for it in _needed(newest, last) | {newest})}
    findings = []

    def add(path: str, message: str) -> None:
        severity = Severity.STOPS if path in stops else Severity.LOSES
        findings.append(Finding(Kind.DAMAGED, path, message, severity))

    def readable(log: str, numbers: list[int], read: Callable[[Storage, int], T]) -> dict[int, T]:
        """The entries of a log that can be read, by batch."""
        entries: dict[int, T] = {}
        for number in numbers:
            try:
                entries[number] = read(storage, number)
            except FileMissingError:
                continue
            except KeyfoldError as error:
                add(f"{log}/{number}", str(error.args[0]))
        return entries

    for before, after in pairwise(committed):
        if after != before + 1:
            message = (
                f"batch {after} follows batch {before}. Spark writes every batch; restore the "
                "files between from a copy."
            )
            add("commits", message)
    for number in _without_offsets(committed, begun):
        message = (
            f"batch {number} is committed, and is not in the offset log. The query cannot start if "
            "this is its last batch or the one before. Restore the file from a copy."
        )
        add(f"offsets/{number}", message)
    offsets = readable("offsets", begun, read_offsets)
    commits = readable("commits", committed, read_commit)
    with_offsets = [Batch(it, offsets.get(number)) for number, it in commits.items()]
    return Logs(with_offsets, offsets, newest, last), findings


def _without_offsets(committed: list[int], begun: list[int]) -> list[int]:
    """Committed batches without offsets, except for old ones: Spark deletes these there first."""
    last = committed[-1] if committed else 0
    # Without an open batch, Spark starts with the offsets of the last two.
    starts = last if begun and begun[-1] > last else last - 1
    needed = min([*begun[:1], starts])
    return [it for it in committed if it >= needed and it not in begun]


def startable(storage: Storage, logs: Logs) -> tuple[list[int], set[int]]:
    """The batches to start from that the logs should have, and those of them that damage took.

    Spark needs a batch in both logs, and the offsets of the one before it; so the oldest one in the
    logs is none, unless it is batch 0. Spark deletes the oldest entries of one log before those of
    the other.
    """
    oldest = min(batches(storage, "offsets"), default=0)
    own = logs.own
    foreign = {it.number for it in logs.committed} - {it.number for it in own}
    logged = [it for it in batches(storage, "commits") if it not in foreign]
    numbers = [it for it in logged if it > oldest or it == oldest == 0] or logged[-1:]
    whole = {it.number for it in own if it.offsets is not None}
    found = {it for it in numbers if it not in whole or (it > 0 and it - 1 not in logs.offsets)}
    return numbers, found | {it.number for it in own if _is_half_rescaled(it)}


def _is_half_rescaled(batch: Batch) -> bool:
    """Whether its logs are of different numbers of partitions: a rescale has changed one only."""
    logged = batch.shuffle_partitions
    # An operator without a shuffle key has one partition whatever the number is.
    return bool(logged) and any(len(ids) not in {1, logged} for ids in batch.commit.ids.values())


def undoable_migration(logs: Logs) -> tuple[int, str] | None:
    """The last batch before a migration that can be undone, and its provider.

    It can until the query has committed a batch after the migration's own.
    """
    last = max((it for it, of in logs.offsets.items() if not of.is_keyfolds), default=None)
    if last is None or logs.newest > last + 2 or logs.last > last + 1:
        return None
    return last, str(logs.offsets[last].provider).rpartition(".")[2]
