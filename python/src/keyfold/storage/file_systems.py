"""File systems by libraries: local disks and HDFS by pyarrow, others than these by fsspec."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import pyarrow.fs as fs  # type: ignore[import-untyped] # noqa: PLR0402

from keyfold.storage.files import Listed, Pages, Ranges, RemoteFiles


class ArrowFiles:
    """A file system of pyarrow's, with what `RemoteFiles` has for one file.

    Its calls are quick: a file is opened, and read by ranges.
    """

    def __init__(self, files: Any) -> None:  # noqa: ANN401 - pyarrow's
        self._files = files

    def listing(self, path: str) -> list[Listed]:
        """As `RemoteFiles`, without names that are not UTF-8, since pyarrow cannot open them."""
        selector = fs.FileSelector(path, allow_not_found=True)
        found = (_of_arrow(it) for it in self._files.get_file_info(selector))
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


def _of_arrow(info: Any) -> Listed | None:  # noqa: ANN401 - pyarrow's
    try:
        name = info.base_name
    except UnicodeDecodeError:
        return None
    modified = None if info.mtime_ns is None else info.mtime_ns // 1_000_000
    return Listed(name, info.size or 0, info.type == fs.FileType.Directory, modified)


class FsspecFiles(RemoteFiles):
    """A file system of fsspec's."""

    def __init__(self, files: Any) -> None:  # noqa: ANN401 - fsspec's
        self._files = files

    def listing(self, path: str) -> list[Listed]:
        """As `RemoteFiles`."""
        try:
            with _errors():
                found = self._files.ls(path, detail=True)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [_listed(it) for it in found if it["name"].strip("/") != path.strip("/")]

    def below(self, path: str, start: str = "", end: str = "") -> Pages:  # noqa: ARG002 - not ordered
        """As `RemoteFiles`."""
        above = len(path.strip("/"))
        with _errors():
            found = self._files.find(path, detail=True)
        return [
            (name.strip("/").rpartition("/")[0][above:].lstrip("/"), _listed(it))
            for name, it in found.items()
        ]

    def content(self, path: str) -> bytes:
        """As `RemoteFiles`."""
        with _errors():
            return bytes(self._files.cat_file(path))

    def range(self, path: str, start: int, end: int) -> bytes:
        """Bytes of a file from `start` until before `end`."""
        with _errors():
            return bytes(self._files.cat_file(path, start=start, end=end))

    def length(self, path: str) -> int:
        """Length of a file in bytes."""
        with _errors():
            return int(self._files.info(path)["size"])


@contextmanager
def _errors() -> Iterator[None]:
    """Each file system of fsspec has errors of its own; all but OSError become one."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001
        raise OSError(f"{type(error).__name__}: {error}") from None


def _listed(it: dict[str, Any]) -> Listed:
    found = next((it[key] for key in ("mtime", "LastModified", "created") if it.get(key)), None)
    if isinstance(found, datetime):
        found = found.timestamp()
    modified = int(found * 1000) if isinstance(found, (int, float)) else None
    is_folder = it["type"] == "directory"
    name = it["name"].rstrip("/").rpartition("/")[2]
    return Listed(name, 0 if is_folder else int(it["size"] or 0), is_folder, modified)
