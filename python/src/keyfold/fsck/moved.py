"""Absolute paths that Spark has written into a checkpoint, which may have been moved since."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit


def is_same_place(path: str, written: str) -> bool:
    """Whether both name one file, as far as paths tell: servers have several names."""
    own, other = _path_of(path), _path_of(written)
    return own == other or (_is_local(path) and Path(own).resolve() == Path(other).resolve())


def is_lost(path: str, written: str) -> bool:
    """Whether `written` is not there. Only asked on a local disk: the bytes may lie."""
    return _is_local(path) and _is_local(written) and not Path(_path_of(written)).exists()


def _path_of(path: str) -> str:
    return unquote(urlsplit(path).path) if _has_scheme(path) else path


def _has_scheme(path: str) -> bool:
    return ":/" in path


def _is_local(path: str) -> bool:
    return not _has_scheme(path) or path.startswith("file:")
