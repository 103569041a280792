"""Absolute paths that Spark has written into a checkpoint, which may have been moved since."""

from __future__ import annotations

from pathlib import Path

from keyfold.storage.resolve import is_uri, path_of


def is_same_location(path: str, written: str) -> bool:
    """Whether both name one file, as far as paths tell: servers have several names."""
    own, other = path_of(path), path_of(written)
    return own == other or (_is_local(path) and Path(own).resolve() == Path(other).resolve())


def is_lost(path: str, written: str) -> bool:
    """Whether `written` is not there. Only asked on a local disk: the bytes may lie."""
    return _is_local(path) and _is_local(written) and not Path(path_of(written)).exists()


def _is_local(path: str) -> bool:
    return not is_uri(path) or path.startswith("file:")
