"""Numbers as readable text."""

from __future__ import annotations

from datetime import datetime, timezone

_SECOND, _MINUTE, _HOUR, _DAY = 1000, 60_000, 3_600_000, 86_400_000
_LONG = (
    ("d", _DAY, "h", _HOUR),
    ("h", _HOUR, "min", _MINUTE),
    ("min", _MINUTE, "s", _SECOND),
)
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


def plural(number: int | None, noun: str) -> str:
    """A number and its noun."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def duration(ms: float | None) -> str:
    """A duration given in ms, in one or two units."""
    if ms is None:
        return "unknown"
    # As it is rounded for people: not 1000 ms, nor 60.0 s.
    if round(ms) < _SECOND:
        return f"{round(ms)} ms"
    if round(ms / _SECOND, 1) < _MINUTE / _SECOND:
        return f"{ms / _SECOND:.1f} s"
    ms = max(ms, _MINUTE)
    for name, unit, smaller, part in _LONG:
        if ms >= unit:
            rest = int(ms % unit // part)
            return f"{int(ms // unit)} {name}" + (f" {rest} {smaller}" if rest else "")
    raise AssertionError
