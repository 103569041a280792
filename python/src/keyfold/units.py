"""Numbers as people read them."""

from __future__ import annotations

from datetime import datetime, timezone

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def count(number: int | None) -> str:
    """A number with thousands separators."""
    return "unknown" if number is None else f"{number:,}"


def size(number: int | None) -> str:
    """Bytes in the largest unit that leaves at least 1."""
    if number is None:
        return "unknown"
    value, step = float(number), 1024
    unit = 0
    while value >= step and unit < len(_UNITS) - 1:
        value, unit = value / step, unit + 1
    return f"{number} B" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"


def span(first: int | None, last: int | None) -> str:
    """A range of numbers, or the number if there is only one."""
    return count(first) if first == last else f"{count(first)}-{count(last)}"


def moment(ms: int | None) -> str:
    """A time given in ms since 1970, in UTC."""
    if ms is None:
        return "time unknown"
    found = datetime.fromtimestamp(ms / 1000, tz=timezone.utc)
    return found.strftime("%Y-%m-%d %H:%M:%S UTC")


def plural(number: int | None, noun: str) -> str:
    """A number and its noun."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"
