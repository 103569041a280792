"""What the logs of both formats say of a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from keyfold.errors import TableDamagedError
from keyfold.storage.storage import Storage


@dataclass(frozen=True)
class TableVersion:
    """A version of a table.

    Attributes:
        version: its number; in Iceberg the id of the snapshot.
        operation: what made it, as the log names it: STREAMING UPDATE, OPTIMIZE, append ...
        batches: the batch that it has, by the id of the query; in Delta by any application id.
        replaces: whether a batch in complete mode replaced all rows.
    """

    version: int
    operation: str
    batches: dict[str, int]
    replaces: bool


class TableLog(ABC):
    """The log of a table, whose format has Spark's name for it."""

    format: str

    @abstractmethod
    def applications(self) -> dict[str, int]:
        """The newest batch of each query, or of each application id, in the current table."""

    @abstractmethod
    def history(self) -> Iterator[TableVersion]:
        """Versions that led to the current one, newest first, until one that the log has lost."""

    @abstractmethod
    def can_restore(self, version: int) -> bool:
        """Whether the log still has all that a version of `history` needs."""

    @abstractmethod
    def restore(self, place: str, version: int) -> str:
        """The SQL that takes the table at `place` back to a version of `history`."""

    @abstractmethod
    def undo(self, place: str, version: int) -> str:
        """The SQL that takes it forward again to the version that was the newest."""


def damaged(storage: Storage, path: str, detail: str) -> TableDamagedError:
    """An error about a file of a table's log."""
    return TableDamagedError(
        f"Cannot understand {storage.full_path(path)}: {detail}. It belongs to the log of the "
        "table that --sink-path names. Restore it from a copy, or roll back without --sink-path "
        "and take the table back yourself."
    )
