"""Local disks and HDFS, by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow.fs as fs  # type: ignore[import-untyped] # noqa: PLR0402

from keyfold.storage.files import Listed, Ranges


class ArrowFiles:
    """A file system of pyarrow's, with what `RemoteFiles` has for one file.

    Its calls are quick: a file is opened, and read by ranges.
    """

    def __init__(self, files: Any) -> None:  # noqa: ANN401 - pyarrow's
        self._files = files

    def listing(self, path: str) -> list[Listed]:
        """As `RemoteFiles`, without names that are not UTF-8, since pyarrow cannot open them."""
        selector = fs.FileSelector(path, allow_not_found=True)
        found = (_listed(it) for it in self._files.get_file_info(selector))
        return [it for it in found if it is not None]

    def content(self, path: str) -> bytes:
        """As `RemoteFiles`."""
        with self._files.open_input_stream(path, compression=None) as stream:
            return bytes(stream.read())

    @contextmanager
    def open(self, path: str, size: int | None) -> Iterator[Ranges]:  # noqa: ARG002 - not needed
        """As `RemoteFiles`."""
        with self._files.open_input_file(path) as file:
            yield file.size(), lambda offset, length: bytes(file.read_at(length, offset))


def _listed(info: Any) -> Listed | None:  # noqa: ANN401 - pyarrow's
    try:
        name = info.base_name
    except UnicodeDecodeError:
        return None
    modified = None if info.mtime_ns is None else info.mtime_ns // 1_000_000
    return Listed(name, info.size or 0, info.type == fs.FileType.Directory, modified)
