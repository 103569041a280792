"""The commit log from one look to the next: it goes on, or is another one now."""

from __future__ import annotations

from dataclasses import dataclass, field

from keyfold.format.names import is_number
from keyfold.storage.files import Listed
from keyfold.storage.storage import Storage


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
