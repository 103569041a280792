"""What one command has read of a storage, so that nothing is asked twice."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

from keyfold.storage.files import Listed

# Requests that run at a time. More do not help one machine, and servers refuse too many.
REQUESTS = 32


class Memory:
    """Listings by folder and contents by file, and the threads that read."""

    def __init__(self) -> None:
        self.listings: dict[str, list[Listed]] = {}
        self.contents: dict[str, bytes] = {}
        self._complete: set[str] = set()

    @cached_property
    def pool(self) -> ThreadPoolExecutor:
        """Threads for requests; they end with this object."""
        return ThreadPoolExecutor(REQUESTS)

    def knows(self, path: str) -> bool:
        """Whether everything below a folder was listed."""
        return any(path == it or path.startswith(f"{it}/") for it in self._complete)

    def listing(self, path: str) -> list[Listed] | None:
        """A listing; None if it is not known."""
        found = self.listings.get(path)
        return [] if found is None and self.knows(path) else found

    def add_below(self, path: str, files: Iterable[tuple[str, Listed]]) -> None:
        """Adds all files below a folder, each with its own folder relative to that one."""
        found: dict[str, dict[str, Listed]] = {path: {}}
        for folder, file in files:
            here = f"{path}/{folder}" if folder else path
            found.setdefault(here, {})[file.name] = file
        for folder in list(found):
            at = folder
            while at != path:
                above, _, name = at.rpartition("/")
                found.setdefault(above, {})[name] = Listed(name, 0, is_folder=True)
                at = above
        for folder, entries in found.items():
            self.listings[folder] = sorted(entries.values(), key=lambda it: it.name)
        self._complete.add(path)
