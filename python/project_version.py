"""Version of this package for the build: that of the repository, or of the source archive."""

from pathlib import Path

_HERE = Path(__file__).resolve().parent
_FILES = (_HERE / "VERSION", _HERE.parent / "VERSION")

__version__ = next(file for file in _FILES if file.is_file()).read_text(encoding="utf-8").strip()
