"""What was measured, when and where: a line for a page of benchmarks."""

import os
import subprocess
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Final

ENGINE: Final = ("jvm/core/src/main", "jvm/spark/src/main")
MEASURED: Final = (*ENGINE, "python/src", "bench")


def revision(measured: Sequence[str] = MEASURED) -> str:
    """The commit, with a + if what is measured has local changes, the day and the cores."""
    commit = _git("rev-parse", "--short=12", "HEAD") + ("+" if is_changed(measured) else "")
    today = datetime.now(tz=timezone.utc).date()
    return f"Keyfold at commit {commit}, {today}, on {os.cpu_count()} cores."


def is_changed(measured: Sequence[str] = MEASURED) -> bool:
    """Whether what is measured has local changes."""
    return bool(_git("status", "--porcelain", "--", *measured))


def code(measured: Sequence[str] = MEASURED) -> str:
    """The newest commit that has changed what is measured."""
    return _git("log", "-1", "--format=%H", "--", *measured)


def _git(*arguments: str) -> str:
    said = subprocess.run(["git", *arguments], check=True, capture_output=True, text=True)  # noqa: S603, S607
    return said.stdout.strip()
