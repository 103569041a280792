"""What was measured, when and where: a line for a page of benchmarks."""

import os
import subprocess
from datetime import datetime, timezone

MEASURED = ("jvm/core", "jvm/spark", "python/src", "bench")


def revision() -> str:
    """The commit, with a + if what is measured has local changes, the day and the cores."""
    commit = _git("rev-parse", "--short=12", "HEAD") + ("+" if is_changed() else "")
    today = datetime.now(tz=timezone.utc).date()
    return f"Keyfold at commit {commit}, {today}, on {os.cpu_count()} cores."


def is_changed() -> bool:
    """Whether what is measured has local changes."""
    return bool(_git("status", "--porcelain", "--", *MEASURED))


def code() -> str:
    """The newest commit that has changed what is measured."""
    return _git("log", "-1", "--format=%H", "--", *MEASURED)


def _git(*arguments: str) -> str:
    said = subprocess.run(["git", *arguments], check=True, capture_output=True, text=True)  # noqa: S603, S607
    return said.stdout.strip()
