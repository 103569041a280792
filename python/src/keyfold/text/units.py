"""Numbers as readable text."""

from __future__ import annotations

import re
from datetime import datetime, timezone

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def count(number: int | None) -> str:
    """A number with thousands separators."""
    return "unknown" if number is None else f"{number:,}"


def size(number: int | None) -> str:
    """A size in the largest unit in which it is at least 1."""
    if number is None:
        return "unknown"
    name, unit = unit_of(number)
    return f"{number} B" if unit == 1 else f"{number / unit:.1f} {name}"


def parsed_size(text: str) -> int | None:
    """Bytes of a size as Spark's settings have it, such as 512m or 4g; None if it is none."""
    found = re.fullmatch(r"([0-9]{1,15})([kmgt]?)b?", text.strip().lower())
    return int(found[1]) << 10 * (" kmgt".index(found[2] or " ")) if found else None


def unit_of(number: float) -> tuple[str, int]:
    """The largest unit in which a size is at least 1, and its number of bytes."""
    power = 0
    while number >= 1024 ** (power + 1) and power < len(_UNITS) - 1:
        power += 1
    return _UNITS[power], 1024**power


def span(first: int | None, last: int | None) -> str:
    """A range of numbers, or the number if there is only one."""
    return count(first) if first == last else f"{count(first)}-{count(last)}"


def moment(ms: int | None) -> str:
    """A time given in ms since 1970, in UTC."""
    if ms is None:
        return "time unknown"
    try:
        found = datetime.fromtimestamp(ms / 1000, tz=timezone.utc)
    except (OSError, OverflowError, ValueError):
        # The year is outside of the calendar's range.
        return f"{ms} ms"
    return found.strftime("%Y-%m-%d %H:%M:%S UTC")


def duration(ms: float) -> str:
    """A span of time in the largest unit in which it is at least 2; seconds from 1 on."""
    for name, unit in (("days", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000)):
        if ms >= 2 * unit or (name == "s" and ms >= unit):
            return f"{ms / unit:.1f} {name}"
    return f"{ms:.0f} ms"


def plural(number: int | None, noun: str) -> str:
    """A number and its noun."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"
