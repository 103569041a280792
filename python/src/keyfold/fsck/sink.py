"""Whether a query writes to a file sink, as its start has noted (docs/FORMAT.md, section 12)."""

from __future__ import annotations

from keyfold.errors import FileMissingError
from keyfold.storage.storage import Storage


def writes_files(storage: Storage) -> bool:
    """Whether it last started with a file sink; False if that is not known."""
    try:
        return storage.whole("keyfold/sink").startswith(b"v1\nfile ")
    except FileMissingError:
        return False
