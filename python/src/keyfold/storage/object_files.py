"""Object stores, by obstore: S3 and what speaks like it, Google Cloud Storage, Azure.

pyarrow asks for the length of each object before it reads it, which doubles the requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import obstore
from obstore.exceptions import BaseError

from keyfold.storage.files import Listed, Pages, RemoteFiles
from keyfold.storage.refusal import is_missing, reason

# Objects of a page of a listing; S3 gives at most as many.
_PAGE = 1000


class ObjectFiles(RemoteFiles):
    """A bucket."""

    def __init__(self, store: Any, place: str, *, ordered: bool) -> None:  # noqa: ANN401 - obstore's
        self._store = store
        self._place = place
        self.ordered = ordered

    def listing(self, path: str) -> list[Listed]:
        """As `Files`: one request for 1,000 objects."""
        with self._errors():
            found = obstore.list_with_delimiter(self._store, path or None)
        folders = [Listed(_name(it), 0, is_folder=True) for it in found["common_prefixes"]]
        return folders + [_listed(it) for it in found["objects"] if it["path"] != path]

    def below(self, path: str, start: str = "", end: str = "") -> Pages:
        """As `RemoteFiles`: one request for 1,000 objects."""
        found: Pages = []
        with self._errors():
            pages = obstore.list(self._store, path or None, offset=start or None, chunk_size=_PAGE)
            for it in (it for page in pages for it in page):
                if end and it["path"].encode() > end.encode():
                    break
                folder = it["path"].rpartition("/")[0]
                found.append((folder[len(path) :].lstrip("/"), _listed(it)))
        return found

    def content(self, path: str) -> bytes:
        """As `Files`; the length is learnt from the response."""
        with self._errors():
            return bytes(obstore.get(self._store, path).bytes())

    def range(self, path: str, start: int, end: int) -> bytes:
        """Bytes of an object from `start` until before `end`."""
        with self._errors():
            return bytes(obstore.get_range(self._store, path, start=start, end=end))

    def length(self, path: str) -> int:
        """Length of an object in bytes."""
        with self._errors():
            return int(obstore.head(self._store, path)["size"])

    @contextmanager
    def _errors(self) -> Iterator[None]:
        # What obstore raises holds the whole answer, with signatures, so it is no one's cause.
        try:
            yield
        except (BaseError, OSError) as error:
            if is_missing(error):
                raise FileNotFoundError from None
            raise OSError(reason(str(error), self._place)) from None


def _listed(it: Any) -> Listed:  # noqa: ANN401 - a dictionary of obstore's
    modified: datetime = it["last_modified"]
    return Listed(_name(it["path"]), it["size"], False, int(modified.timestamp() * 1000))  # noqa: FBT003


def _name(path: str) -> str:
    return path.rpartition("/")[2]
