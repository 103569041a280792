"""The last batches of a checkpoint's query."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from keyfold.errors import CheckpointDamagedError, FileMissingError, KeyfoldError
from keyfold.spark_log.logs import Commit, Offsets, batches, read_commit, read_offsets
from keyfold.storage.storage import Storage

T = TypeVar("T")


@dataclass(frozen=True)
class Progress:
    """State of the batch logs at one moment.

    `commit` is the newest readable commit, None before the first; `offsets` its batch, or the
    newest started batch before the first commit.
    `problems` has the errors for unreadable entries.
    """

    commit: Commit | None
    offsets: Offsets | None
    problems: tuple[KeyfoldError, ...]

    @property
    def last_batch(self) -> int | None:
        """Number of the last committed batch."""
        return None if self.commit is None else self.commit.batch

    @property
    def provider(self) -> str | None:
        """Class of the query's state store provider; None if not known."""
        return None if self.offsets is None else self.offsets.provider


def read_progress(storage: Storage) -> Progress:
    """Reads the batch logs; if a commit is damaged or missing, an older one is used."""
    newest = batches(storage, "commits")[-1:]
    storage.fetch(f"{log}/{it}" for it in newest for log in ("commits", "offsets"))
    commit, problems = newest_commit(storage)
    offsets = None if commit is None else _first(storage, read_offsets, [commit.batch], problems)
    if offsets is None:
        started = reversed(batches(storage, "offsets"))
        older = [batch for batch in started if commit is None or batch < commit.batch]
        offsets = _first(storage, read_offsets, older, problems)
    return Progress(commit, offsets, tuple(problems))


def newest_commit(storage: Storage) -> tuple[Commit | None, list[KeyfoldError]]:
    """The newest commit that can be read, and the errors of those that cannot."""
    problems: list[KeyfoldError] = []
    newest_first = reversed(batches(storage, "commits"))
    return _first(storage, read_commit, newest_first, problems), problems


def oldest_offsets(storage: Storage) -> Offsets | None:
    """The oldest batch still in the log that can be read."""
    return _first(storage, read_offsets, batches(storage, "offsets"), [])


def _first(
    storage: Storage,
    read: Callable[[Storage, int], T],
    candidates: Iterable[int],
    problems: list[KeyfoldError],
) -> T | None:
    """The first entry of a log that can be read."""
    for batch in candidates:
        try:
            return read(storage, batch)
        except FileMissingError:
            continue
        except CheckpointDamagedError as error:
            problems.append(error)
    return None
