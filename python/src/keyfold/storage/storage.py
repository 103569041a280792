"""All file access: one checkpoint folder on any file system."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from functools import partial
from itertools import chain, pairwise
from os import PathLike, fspath
from typing import Any, TypeVar

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.errors import FileMissingError, KeyfoldError, StorageError
from keyfold.format.source import BytesSource, Source
from keyfold.storage.files import Listed, RemoteFiles
from keyfold.storage.memory import Memory
from keyfold.storage.resolve import kind_of, resolve

A = TypeVar("A")
B = TypeVar("B")

# A remote file of at most this size is read whole, as fast as a part of it.
_WHOLE_BYTES = 64 * 1024


class Storage:
    """Reads below one folder; paths are relative to it, with `/`. Several threads may use it."""

    def __init__(self, root: str | PathLike[str], options: Mapping[str, Any] | None = None) -> None:
        """Finds the file system of `root`; nothing is read.

        Args:
            root: a local path or a URI.
            options: of the file system, see `keyfold.open_checkpoint`.

        Raises:
            InvalidArgumentError: `root` is neither, or there is no such option.
            ExtraMissingError: the file system needs a package that is not installed.
        """
        location = resolve(str(fspath(root)), options or {})
        self.root = location.shown
        self._files, self._base, self._secrets = location.files, location.base, location.secrets
        self.options = options
        self._memory: Memory | None = None

    @property
    def remote(self) -> bool:
        """Whether each call is a request to a server, so that several should run at a time."""
        return isinstance(self._files, RemoteFiles)

    def elsewhere(self, root: str) -> Storage:
        """Another folder, reached with the same options if these are for its kind of storage."""
        return Storage(root, self.options if kind_of(root) == kind_of(self.root) else None)

    def once(self) -> Storage:
        """The same for one command: it remembers listings and small files; else itself."""
        if self._memory is not None:
            return self
        remembering = copy(self)
        remembering._memory = Memory()  # noqa: SLF001 - its own copy
        return remembering

    def forget(self) -> None:
        """Has everything read again, for a command that asks whether something has changed."""
        if self._memory is not None:
            self._memory = Memory()

    def listing(self, path: str, *, anew: bool = False) -> list[Listed]:
        """The contents of a folder, by name; empty if there is no such folder.

        Args:
            path: the folder.
            anew: whether to ask again although it is remembered.
        """
        entries = None if anew or self._memory is None else self._memory.listing(path)
        if entries is None:
            with self._errors(path):
                entries = sorted(self._files.listing(self._full(path)), key=lambda it: it.name)
            if self._memory is not None:
                self._memory.listings[path] = entries
        return entries

    def list_below(self, path: str, splits: Sequence[str] = ()) -> None:
        """Lists all folders below a remote one at once, if what was listed is remembered.

        Args:
            path: the folder.
            splits: names between which it may be listed side by side, ascending.
        """
        files, memory = self._files, self._memory
        if isinstance(files, RemoteFiles) and memory is not None and not memory.knows(path):
            full = self._full(path)
            ends = [f"{full}/{it}" for it in splits] if files.ordered else []
            with self._errors(path):
                between = list(pairwise(["", *ends, ""]))
                pages = self.side_by_side(lambda it: files.below(full, *it), between)
            memory.add_below(path, chain.from_iterable(pages))

    def text(self, path: str) -> str:
        """Content of a small file. Bytes that are not UTF-8 become replacement characters.

        Raises:
            FileMissingError: there is no such file.
            StorageError: it cannot be read.
        """
        return self.content(path).decode(errors="replace")

    def content(self, path: str) -> bytes:
        """Bytes of a small file. Raises as `text` does."""
        content = None if self._memory is None else self._memory.contents.get(path)
        if content is None:
            content = self.whole(path)
            if self._memory is not None:
                self._memory.contents[path] = content
        return content

    def whole(self, path: str) -> bytes:
        """All bytes of a file, which are not remembered. Raises as `text` does."""
        with self._errors(path):
            return self._files.content(self._full(path))

    def fetch(self, contents: Iterable[str] = (), listings: Iterable[str] = ()) -> None:
        """Reads small files and folders side by side, for the calls that ask for them next.

        Does nothing unless the storage is remote and remembers. Errors are left to those calls.
        """
        if not self.remote or self._memory is None:
            return

        def attempt(call: Callable[[], object]) -> None:
            with suppress(KeyfoldError):
                call()

        calls: list[Callable[[], object]] = [partial(self.content, it) for it in contents]
        calls += [partial(self.listing, it) for it in listings]
        self.side_by_side(attempt, calls)

    def side_by_side(self, work: Callable[[A], B], items: Sequence[A]) -> list[B]:
        """Calls `work` for each item, for many at a time, as it mostly waits.

        `work` must not call this method.
        """
        if self._memory is None or len(items) < 2:  # noqa: PLR2004
            return [work(it) for it in items]
        return list(self._memory.pool.map(work, items))

    @contextmanager
    def open(self, path: str, size: int | None = None) -> Iterator[Source]:
        """A file to read by ranges. Raises as `text` does, also while it is read.

        Args:
            path: the file.
            size: its length in bytes, if it is known.
        """
        if self.remote and size is not None and size <= _WHOLE_BYTES:
            yield BytesSource(self.full_path(path), self.whole(path))
            return
        with self._errors(path), self._files.open(self._full(path), size) as (length, read):
            yield Source(self.full_path(path), length, read)

    def full_path(self, path: str) -> str:
        """`path` as a user would write it, for messages."""
        return f"{self.root.rstrip('/')}/{path}"

    def _full(self, path: str) -> str:
        return "/".join(it for it in (self._base, path) if it)

    @contextmanager
    def _errors(self, path: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise FileMissingError(
                f"Cannot find {self.full_path(path)}. If the query runs, its retention may just "
                "have removed it; otherwise restore it from a copy.",
                path,
            ) from error
        except (OSError, pa.ArrowException) as error:
            reason = str(error)
            for secret in self._secrets:
                reason = reason.replace(secret, "***")
            advice = (
                ""
                if self.remote
                else " Check that the path, the network and your permissions are right, then try "
                "again."
            )
            raise StorageError(
                f"Cannot read {self.full_path(path)}: {reason.rstrip('.')}.{advice}"
            ) from (None if self._secrets else error)

    def __getstate__(self) -> dict[str, Any]:
        """Without what it remembers: another process reads for itself."""
        return self.__dict__ | {"_memory": None if self._memory is None else Memory()}

    def __repr__(self) -> str:
        """The folder, without credentials."""
        return f"Storage({self.root!r})"
