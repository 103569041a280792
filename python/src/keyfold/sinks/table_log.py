"""What the logs of both formats say of a table."""

from __future__ import annotations

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
        restores: the version that Delta's RESTORE went back to; None if it is another operation, or
            went by a time.
        parent: the version that it builds on; -1 if there is none.
        time: when it was committed, in ms since 1970; None if the log does not say it.
        taken_back: whether it does not lead to the newest one: the table went back behind it.
    """

    version: int
    operation: str
    batches: dict[str, int]
    replaces: bool
    restores: int | None = None
    parent: int = -1
    time: int | None = None
    taken_back: bool = False


def damaged(storage: Storage, path: str, detail: str) -> TableDamagedError:
    """An error about a file of a table's log."""
    return TableDamagedError(
        f"Cannot understand {storage.full_path(path)}: {detail}. It belongs to the log of the "
        "table that --sink-path names. Restore it from a copy, or roll back without --sink-path "
        "and take the table back yourself."
    )
