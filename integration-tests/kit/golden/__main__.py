"""Writes the golden files again, or into the folder given."""

from __future__ import annotations

import sys
from pathlib import Path

from kit.golden.files import GOLDEN, write

write(Path(sys.argv[1]) if len(sys.argv) > 1 else GOLDEN)
