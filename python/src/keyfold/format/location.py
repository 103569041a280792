"""The folder of a store's files."""

from __future__ import annotations

import re
from dataclasses import dataclass

DEFAULT_STORE = "default"
_PATH = re.compile(r"/state/(\d+)/(\d+)/(?:([^/]+)/)?[^/]+$")


@dataclass(frozen=True)
class StoreLocation:
    """One store of one partition of an operator."""

    operator: int
    partition: int
    store: str

    @property
    def folder(self) -> str:
        """Its folder, relative to the checkpoint (docs/FORMAT.md, section 2)."""
        folder = f"state/{self.operator}/{self.partition}"
        return folder if self.store == DEFAULT_STORE else f"{folder}/{self.store}"

    def __str__(self) -> str:
        """Operator, partition and store, for messages."""
        named = "" if self.store == DEFAULT_STORE else f" store {self.store}"
        return f"operator {self.operator} partition {self.partition}{named}"


def location_of(path: str) -> StoreLocation | None:
    """The store that a file is of, by its path; None if that does not tell."""
    found = _PATH.search(path)
    return found and StoreLocation(int(found[1]), int(found[2]), found[3] or DEFAULT_STORE)
