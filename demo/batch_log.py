"""Reads from a checkpoint how far its query has come."""

from pathlib import Path


def finished(checkpoint: Path) -> int:
    """Count the batches that need never run again; the log keeps only the last ones."""
    return _last(checkpoint / "commits") + 1


def unfinished(checkpoint: Path) -> int | None:
    """Number the batch that was planned and not finished, if there is one; it must run again."""
    planned = _last(checkpoint / "offsets")
    return planned if planned >= finished(checkpoint) else None


def bytes_of_state(checkpoint: Path) -> int:
    """Bytes of all files of state, those kept for going back to earlier batches too."""
    return sum(file.stat().st_size for file in (checkpoint / "state").rglob("*") if file.is_file())


def _last(log: Path) -> int:
    """Read the greatest batch number, -1 if none; files not named by a number are not entries."""
    if not log.is_dir():
        return -1
    return max((int(file.name) for file in log.iterdir() if file.name.isdecimal()), default=-1)
