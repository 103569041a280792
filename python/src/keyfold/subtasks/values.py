# ruff: noqa: ANN401 - a value is whatever a user passes
"""Single values on their way into a state: as the type has them, or refused.

Arrow's conversion of Python's objects is no help here: it cuts 7.5 to 7, drops the time of a
datetime for a date, takes a naive datetime as UTC, and leaves out entries of a dict that a struct
does not have.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Any, Final

Convert = Callable[[Any], Any]
"""Raises UnfitError, TypeError, ValueError or ArithmeticError if the value does not fit."""

_FIRST: Final = datetime(1, 1, 3, tzinfo=timezone.utc)
"""PySpark makes it a local time, for which Python looks a day back: there is no year 0."""

_GAP: Final = (date(1582, 10, 5), date(1582, 10, 15))
"""Days that the calendar of PySpark's JVM side leaves out: there they become the last one."""

_GAP_OF_ANY_ZONE: Final = (
    datetime(1582, 10, 4, tzinfo=timezone.utc),
    datetime(1582, 10, 16, tzinfo=timezone.utc),
)
_AFTER_THE_GAP: Final = (
    f"would be on {_GAP[1]}: PySpark's calendar has no days between 1582-10-04 and {_GAP[1]}"
)
_WEEK: Final = timedelta(weeks=1)
_BITS: Final = {"byte": 8, "short": 16, "integer": 32, "long": 64}


class UnfitError(ValueError):
    """A value does not fit its type; the text is a clause that names the value."""


def whole(type_name: str) -> Convert:
    """To a number without a fraction, in the bounds of `byte`, `short`, `integer` or `long`."""
    end = 1 << (_BITS[type_name] - 1)

    def convert(value: Any) -> int:
        _expect(value, int, float)
        number = int(value)
        if number != value or not -end <= number < end:
            raise OverflowError
        return number

    return convert


def real(type_name: str) -> Convert:
    """To a `double`, or to the nearest `float`; a whole number must fit exactly."""

    def convert(value: Any) -> float:
        _expect(value, int, float)
        number = float(value)
        if type_name == "float":
            (number,) = struct.unpack("<f", struct.pack("<f", number))
        if isinstance(value, int) and number != value:
            raise OverflowError
        return number

    return convert


def decimal(precision: int, scale: int) -> Convert:
    """To a decimal that loses no digit."""
    exact = Context(precision, traps=[Inexact, InvalidOperation])
    unit = Decimal(1).scaleb(-scale)

    def convert(value: Any) -> Decimal:
        _expect(value, int, Decimal)
        number = Decimal(value)
        if not number.is_finite():
            raise OverflowError
        return number.quantize(unit, context=exact)

    return convert


def boolean(value: Any) -> bool:
    """True or False, and no number."""
    if not isinstance(value, bool):
        raise TypeError
    return value


def string(value: Any) -> str:
    """Text that has a form in UTF-8."""
    _expect(value, str)
    return bytes(value, "utf-8").decode()


def binary(value: Any) -> bytes:
    """Bytes, and no text."""
    _expect(value, bytes, bytearray)
    return bytes(value)


def day(value: Any) -> date:
    """A date, and no datetime."""
    _expect(value, date)
    if isinstance(value, datetime):
        raise TypeError
    return date(value.year, value.month, value.day)


def day_of_state(value: Any) -> date:
    """The same, if a state keeps it."""
    there = day(value)
    if _GAP[0] <= there < _GAP[1]:
        raise UnfitError(f"{value!r} {_AFTER_THE_GAP}")
    return there


def instant(value: Any) -> datetime:
    """A datetime that has a time zone, in UTC."""
    moment = _moment(value)
    if moment.utcoffset() is None:
        raise UnfitError(
            f"{value!r} has no time zone. Give it one, or declare the field as timestamp_ntz"
        )
    return utc(moment)


def instant_of_state(value: Any) -> datetime:
    """The same, if a state keeps it."""
    there = instant(value)
    if there < _FIRST:
        raise UnfitError(f"{value!r} is before {_FIRST.date()}, and PySpark could not read it")
    if _GAP_OF_ANY_ZONE[0] <= there < _GAP_OF_ANY_ZONE[1]:
        raise UnfitError(f"{value!r} in some zones {_AFTER_THE_GAP}")
    return there


def utc(moment: datetime) -> datetime:
    """The same instant in UTC; PySpark's naive datetimes are in the process's zone."""
    try:
        return moment.astimezone(timezone.utc)
    except (OverflowError, ValueError):
        # Python looks a day back, for a change of the clocks, and there is no year 0. Without one,
        # a week later the offset is the same.
        return (moment + _WEEK).astimezone(timezone.utc) - _WEEK


def wall_clock(value: Any) -> datetime:
    """A datetime that has no time zone."""
    moment = _moment(value)
    if moment.utcoffset() is not None:
        raise UnfitError(f"{value!r} has a time zone. Remove it, or declare the field as timestamp")
    return moment


def _moment(value: Any) -> datetime:
    _expect(value, datetime)
    value.utcoffset()  # Raises for NaT, which pandas says is a datetime.
    if getattr(value, "nanosecond", 0):
        raise ValueError
    moment: datetime = value.to_pydatetime() if hasattr(value, "to_pydatetime") else value
    return moment


def _expect(value: Any, *kinds: type) -> None:
    """Raises TypeError unless the value is of one of these classes; True is no number."""
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise TypeError
