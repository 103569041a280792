"""A memory cgroup of Linux, as a container has one: the page cache counts."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_ROOT: Final = Path("/sys/fs/cgroup")
_NAME: Final = "keyfold-bench"


class Cgroup:
    """A group of processes that may take so many bytes together. Needs root.

    Raises OSError where there is no cgroup, or none may be made.
    """

    def __init__(self, limit: int) -> None:
        """Make the group."""
        is_first = (_ROOT / "memory").is_dir()
        self._folder = (_ROOT / "memory" if is_first else _ROOT) / _NAME
        self._peak = "memory.max_usage_in_bytes" if is_first else "memory.peak"
        self._folder.mkdir(exist_ok=True)
        if not is_first:
            (_ROOT / "cgroup.subtree_control").write_text("+memory")
        name = "memory.limit_in_bytes" if is_first else "memory.max"
        (self._folder / name).write_text(str(limit))

    def enter(self) -> None:
        """Put this process, and those that it starts, into the group."""
        (self._folder / "cgroup.procs").write_text(str(os.getpid()))

    @property
    def peak(self) -> int:
        """The most bytes that its processes have taken together."""
        return int((self._folder / self._peak).read_text())

    def remove(self) -> None:
        """Remove the group, once its processes have ended."""
        with suppress(FileNotFoundError):
            self._folder.rmdir()
