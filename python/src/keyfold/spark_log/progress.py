"""The last batches of a checkpoint's query."""

from __future__ import annotations

from dataclasses import dataclass

from keyfold.errors import CheckpointDamagedError, FileMissingError, KeyfoldError
from keyfold.spark_log.logs import Commit, Offsets, batches, read_commit, read_offsets
from keyfold.storage.storage import Storage


@dataclass(frozen=True)
class Progress:
    """State of the batch logs at one moment.

    `commit` is the newest readable commit, None before the first; `offsets` its batch, or the
    newest started batch before the first commit; `oldest` the oldest batch still in the log.
    `problems` has the errors for unreadable entries.
    """

    commit: Commit | None
    offsets: Offsets | None
    oldest: Offsets | None
    problems: tuple[KeyfoldError, ...]

    @property
    def last_batch(self) -> int | None:
        """Number of the last committed batch."""
        return None if self.commit is None else self.commit.batch

    @property
    def provider(self) -> str | None:
        """Class of the query's state store provider; None if not known."""
        return None if self.offsets is None else self.offsets.provider

    @property
    def shuffle_partitions(self) -> int | None:
        """Number of partitions of the query's stateful operators; None if not known."""
        return None if self.offsets is None else self.offsets.shuffle_partitions


def read_progress(storage: Storage) -> Progress:
    """Reads the batch logs; if a commit is damaged or missing, an older one is used."""
    problems: list[KeyfoldError] = []
    commit = None
    for batch in reversed(batches(storage, "commits")):
        try:
            commit = read_commit(storage, batch)
            break
        except FileMissingError:
            continue
        except CheckpointDamagedError as error:
            problems.append(error)
    started = batches(storage, "offsets")
    last = None if commit is None else commit.batch
    candidates = [batch for batch in reversed(started) if last is None or batch <= last]
    return Progress(
        commit,
        _first(storage, candidates, problems),
        _first(storage, started, []),
        tuple(problems),
    )


def _first(storage: Storage, candidates: list[int], problems: list[KeyfoldError]) -> Offsets | None:
    for batch in candidates:
        try:
            return read_offsets(storage, batch)
        except FileMissingError:
            continue
        except CheckpointDamagedError as error:
            problems.append(error)
    return None
