"""Finds damage in Spark's own logs of a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from keyfold.errors import FileMissingError, KeyfoldError
from keyfold.fsck.finding import Finding, Kind, Severity
from keyfold.spark_log.batch import Batch
from keyfold.spark_log.logs import Offsets, batches, read_commit, read_offsets
from keyfold.storage.storage import Storage


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
    def can_begin(self) -> bool:
        """Whether Spark can read the last commit, and the offsets that it begins with.

        With a batch that was begun after the last it needs the offsets of these two, else those of
        the last one and the one before it.
        """
        is_there = self.committed and self.committed[-1].number == self.last
        return bool(is_there) and self._needed <= self.offsets.keys()

    @property
    def _needed(self) -> set[int]:
        return {self.last} if self.newest > self.last else {self.last, max(self.last - 1, 0)}

    def stops(self) -> set[str]:
        """Paths of the entries without which the query cannot start."""
        offsets = {f"offsets/{it}" for it in self._needed | {self.newest}}
        return offsets | {f"commits/{self.last}"}


def read_logs(storage: Storage, findings: list[Finding]) -> Logs:
    """The logs; adds findings about what cannot be read."""
    numbers = batches(storage, "commits")
    logs = [f"commits/{it}" for it in numbers]
    storage.fetch(logs + [f"offsets/{it}" for it in batches(storage, "offsets")])
    for before, after in pairwise(numbers):
        if after != before + 1:
            findings.append(
                Finding(
                    Kind.VERSION_GAP,
                    storage.full_path("commits"),
                    f"batch {after} follows batch {before}. Spark writes every batch; restore "
                    "the files between from a copy.",
                )
            )
    begun, offsets, committed = batches(storage, "offsets"), {}, []
    for number in begun:
        try:
            offsets[number] = read_offsets(storage, number)
        except FileMissingError:
            continue
        except KeyfoldError as error:
            findings.append(unreadable(storage, f"offsets/{number}", error))
    findings += _without_offsets(storage, numbers)
    for number in numbers:
        try:
            committed.append(Batch(read_commit(storage, number), offsets.get(number)))
        except FileMissingError:
            continue
        except KeyfoldError as error:
            findings.append(unreadable(storage, f"commits/{number}", error))
    return Logs(committed, offsets, max(begun, default=-1), max(numbers, default=-1))


def _without_offsets(storage: Storage, committed: list[int]) -> Iterator[Finding]:
    """Committed batches without offsets, but for old ones: Spark deletes these there first."""
    begun = batches(storage, "offsets")
    last = committed[-1] if committed else 0
    # Without an open batch, Spark starts with the offsets of the last two.
    starts = last if begun and begun[-1] > last else last - 1
    needed = min([*begun[:1], starts])
    for number in committed:
        if number >= needed and number not in begun:
            yield Finding(
                Kind.METADATA,
                storage.full_path(f"offsets/{number}"),
                f"batch {number} is committed, and is not in the offset log. The query cannot "
                "start if this is its last batch or the one before. Restore the file from a copy.",
            )


def startable(storage: Storage, logs: Logs) -> tuple[list[int], set[int]]:
    """The batches to start from that the logs should have, and those of them that damage took.

    Spark needs a batch in both logs, and the offsets of the one before it; so the oldest one in the
    logs is none, unless it is batch 0. Spark deletes the oldest entries of one log before those of
    the other.
    """
    oldest = min(batches(storage, "offsets"), default=0)
    own = [it for it in logs.committed if it.offsets is None or it.offsets.is_keyfolds]
    foreign = {it.number for it in logs.committed} - {it.number for it in own}
    logged = [it for it in batches(storage, "commits") if it not in foreign]
    numbers = [it for it in logged if it > oldest or it == oldest == 0] or logged[-1:]
    whole = {it.number for it in own if it.offsets is not None}
    found = {it for it in numbers if it not in whole or (it > 0 and it - 1 not in logs.offsets)}
    return numbers, found | {it.number for it in own if _is_half_rescaled(it)}


def _is_half_rescaled(batch: Batch) -> bool:
    """Whether its logs are of different numbers of partitions: a rescale has changed one only."""
    said = batch.offsets and batch.offsets.shuffle_partitions
    # An operator without a shuffle key has one partition whatever the number is.
    return bool(said) and any(len(ids) not in {1, said} for ids in batch.commit.ids.values())


def undoable_migration(logs: Logs) -> tuple[int, str] | None:
    """The last batch before a migration that can be undone, and its provider.

    It can until the query has committed a batch after the migration's own.
    """
    last = max((it for it, of in logs.offsets.items() if not of.is_keyfolds), default=None)
    if last is None or logs.newest > last + 2 or logs.last > last + 1:
        return None
    return last, str(logs.offsets[last].provider).rpartition(".")[2]


def with_severity(storage: Storage, it: Finding, logs: Logs) -> Finding:
    """A finding of Spark's logs."""
    stops = {storage.full_path(path) for path in logs.stops()}
    return replace(it, severity=Severity.STOPS) if it.path in stops else it


def unreadable(
    storage: Storage, path: str, error: KeyfoldError, severity: Severity = Severity.LOSES
) -> Finding:
    """A file of Spark's that cannot be read."""
    return Finding(Kind.METADATA, storage.full_path(path), str(error.args[0]), severity)
