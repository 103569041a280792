"""What a folder has, to tell whether anything in it has changed."""

from __future__ import annotations

from pathlib import Path


def files_in(folder: Path) -> dict[Path, bytes]:
    """The contents of each file, at any depth."""
    return {it: it.read_bytes() for it in folder.rglob("*") if it.is_file()}
