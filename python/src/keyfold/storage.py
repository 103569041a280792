"""All file access: one checkpoint folder on any file system that pyarrow knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import fs

from keyfold.errors import FileMissingError, InvalidArgumentError, StorageError

# At least two letters, so that a drive letter is not taken for a scheme.
_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
# Schemes of Spark and Hadoop for what pyarrow calls s3 and abfs.
_SCHEMES = {"s3a": "s3", "s3n": "s3", "abfss": "abfs", "wasbs": "abfs"}


@dataclass(frozen=True)
class Listed:
    """A file or folder in a listing.

    `size` in bytes is 0 for a folder; `modified` is in ms since 1970, None if not known.
    """

    name: str
    size: int
    is_folder: bool
    modified: int | None = None


class Storage:
    """Reads below one folder; paths are relative to it, with `/`. Several threads may use it."""

    def __init__(self, root: str | PathLike[str]) -> None:
        """Finds the file system of `root`; nothing is read.

        Raises:
            InvalidArgumentError: `root` is neither a path nor a URI of a known file system.
        """
        self.root = str(fspath(root))
        self._files, self._base = _resolve(self.root)

    def listing(self, path: str) -> list[Listed]:
        """The contents of a folder, by name; empty if there is no such folder.

        Names that are not UTF-8 are left out, since pyarrow cannot open them.
        """
        with self._errors(path):
            selector = fs.FileSelector(self._full(path), allow_not_found=True)
            found = self._files.get_file_info(selector)
        listed = [it for info in found if (it := _listed(info)) is not None]
        return sorted(listed, key=lambda it: it.name)

    def text(self, path: str) -> str:
        """Content of a small file. Bytes that are not UTF-8 become replacement characters.

        Raises:
            FileMissingError: there is no such file.
            StorageError: it cannot be read.
        """
        return self.content(path).decode(errors="replace")

    def content(self, path: str) -> bytes:
        """Bytes of a small file. Raises as `text` does."""
        with self._errors(path), self._files.open_input_stream(self._full(path)) as stream:
            return bytes(stream.read())

    @contextmanager
    def open(self, path: str) -> Iterator[StoredFile]:
        """A file to read by ranges. Raises as `text` does, also while it is read."""
        with self._errors(path), self._files.open_input_file(self._full(path)) as file:
            yield StoredFile(self.full_path(path), file)

    def full_path(self, path: str) -> str:
        """`path` as a user would write it, for messages."""
        return f"{self.root.rstrip('/')}/{path}"

    def _full(self, path: str) -> str:
        return f"{self._base}/{path}" if path else self._base

    @contextmanager
    def _errors(self, path: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise FileMissingError(
                f"Cannot find {self.full_path(path)}. If the query runs, its retention may just "
                "have removed it; otherwise restore it from a copy."
            ) from error
        except (OSError, pa.ArrowException) as error:
            raise StorageError(
                f"Cannot read {self.full_path(path)}: {error}. Check that the path, the network "
                "and your permissions are right, then try again."
            ) from error


class StoredFile:
    """An open file of a storage; a `Source`."""

    def __init__(self, path: str, file: Any) -> None:  # noqa: ANN401
        self.path = path
        self._file = file

    @property
    def size(self) -> int:
        """Length in bytes."""
        return int(self._file.size())

    def read(self, offset: int, length: int) -> bytes:
        """The `length` bytes from `offset`; fewer if the file has become shorter."""
        return bytes(self._file.read_at(length, offset))


def _listed(info: Any) -> Listed | None:  # noqa: ANN401 - pyarrow's
    try:
        name = info.base_name
    except UnicodeDecodeError:
        return None
    return Listed(
        name,
        info.size or 0,
        info.type == fs.FileType.Directory,
        None if info.mtime_ns is None else info.mtime_ns // 1_000_000,
    )


def _resolve(root: str) -> tuple[Any, str]:
    found = _URI.match(root)
    if found is None:
        return fs.LocalFileSystem(), str(Path(root).absolute())
    scheme = found[1]
    uri = _SCHEMES.get(scheme, scheme) + root.removeprefix(scheme)
    try:
        files, base = fs.FileSystem.from_uri(uri)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InvalidArgumentError(
            f"Invalid checkpoint path {root!r}: {error}. Use a local path, or a URI of a file "
            "system that pyarrow knows: file:, s3:, gs:, abfs:, hdfs:."
        ) from error
    return files, base.rstrip("/")
