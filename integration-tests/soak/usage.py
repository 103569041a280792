"""What a process takes from the system, as Linux shows it."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class Usage:
    """Of one process, or of many."""

    resident: int
    handles: int
    threads: int
    mappings: int


def usage(process: int) -> Usage:
    folder = PROC / str(process)
    status = dict(
        line.split(":", 1) for line in (folder / "status").read_text().splitlines() if ":" in line
    )
    mappings = (folder / "maps").read_bytes().count(b"\n")
    resident = int(status["VmRSS"].split()[0]) * 1024
    handles = sum(1 for _ in (folder / "fd").iterdir())
    return Usage(resident, handles, int(status["Threads"]), mappings)


def below(process: int) -> list[Usage]:
    """Of all that a process has started, and what these have."""
    parents = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                after_name = (folder / "stat").read_text().rpartition(")")[2]
                parents[int(folder.name)] = int(after_name.split()[1])
    found = {process}
    while more := {it for it, parent in parents.items() if parent in found} - found:
        found |= more
    usages = []
    for it in found - {process}:
        # It may have ended meanwhile.
        with suppress(OSError, KeyError):
            usages.append(usage(it))
    return usages


def files(folder: Path) -> tuple[int, int]:
    """Files below a folder, and those of them that are state."""
    every = [path for path, _, names in os.walk(folder) for _ in names]
    return len(every), sum("/state/" in f"{path}/" for path in every)
