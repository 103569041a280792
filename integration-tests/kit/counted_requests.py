"""A bucket of an object store without a server, whose requests are counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import obstore
import pytest
from obstore.store import LocalStore

from keyfold.storage import object_store
from keyfold.storage.object_files import ObjectFiles


class Requests:
    """A bucket that is a folder, and the requests to it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.asked: list[tuple[str, str]] = []
        store = LocalStore(folder)
        monkeypatch.setattr(
            object_store,
            "bucket_files",
            lambda *_, **__: ObjectFiles(store, "a bucket", ordered=True),
        )
        for name in ("get", "get_range", "head", "list", "list_with_delimiter"):
            monkeypatch.setattr(obstore, name, self._counted(name, getattr(obstore, name)))

    def _counted(self, name: str, original: Any) -> Any:
        def counted(store: Any, path: str, *rest: Any, **others: Any) -> Any:
            self.asked.append((name, f"{path} {others.get('offset') or ''}"))
            found = original(store, path, *rest, **others)
            if name == "list":
                # In the order of S3, which a folder does not have.
                return [sorted((it for page in found for it in page), key=lambda it: it["path"])]
            return found

        return counted

    def counts(self, twice: int = 0) -> Counter[str]:
        """Requests by kind, of which none was sent twice, or as many as said."""
        assert sum(it > 1 for it in Counter(self.asked).values()) <= twice
        found = Counter(name for name, _ in self.asked)
        self.asked.clear()
        return found
