"""A source as a file of Python's, for libraries that take one."""

from __future__ import annotations

import io

from keyfold.format.source import Source


class RangedFile(io.RawIOBase):
    """Reads ranges of a source. `failed` is what the storage has raised, which is no damage."""

    def __init__(self, source: Source) -> None:
        self._source, self._at = source, 0
        self.failed: OSError | None = None

    def readable(self) -> bool:
        """As `io.RawIOBase`."""
        return True

    def seekable(self) -> bool:
        """As `io.RawIOBase`."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """As `io.RawIOBase`."""
        starts = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._source.size}
        self._at = starts[whence] + offset
        return self._at

    def read(self, size: int = -1) -> bytes:
        """As `io.RawIOBase`."""
        left = max(self._source.size - self._at, 0)
        try:
            found = self._source.read(self._at, left if size < 0 else min(size, left))
        except OSError as error:
            self.failed = error
            raise
        self._at += len(found)
        return found
