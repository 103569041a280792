"""Absences: told once each, by the next flight or by the timer, whichever comes first."""

from types import SimpleNamespace
from typing import Any

import pytest

from demo.absences import ABSENT_MS, FORGOTTEN_MS, Numbering, Watch

TIMERS: Any = None
KEY = ("N1",)
DAY = 24 * 60 * 60 * 1000


class Handle:
    """What the processors use of Spark's: one value, timers."""

    def __init__(self) -> None:
        self.value: tuple[Any, ...] | None = None
        self.ttl: int | None = None
        self.timers: set[int] = set()

    def getValueState(self, _name: str, _schema: str, ttl: int | None = None) -> Any:  # noqa: N802
        self.ttl = ttl
        return SimpleNamespace(get=lambda: self.value, update=self.update, clear=self.clear)

    def update(self, value: tuple[Any, ...]) -> None:
        self.value = value

    def clear(self) -> None:
        self.value = None

    def registerTimer(self, time: int) -> None:  # noqa: N802
        self.timers.add(time)

    def deleteTimer(self, time: int) -> None:  # noqa: N802
        self.timers.remove(time)


@pytest.fixture
def handle() -> Handle:
    return Handle()


def watch(handle: Handle, *days: int) -> list[int]:
    """Days of the alerts that flights of these days raise."""
    watch = Watch()
    watch.init(handle)  # type: ignore[arg-type]
    rows = (SimpleNamespace(departure=day * DAY) for day in days)
    return [row.last_seen // DAY for row in watch.handleInputRows(KEY, rows, TIMERS)]


def expire(handle: Handle) -> list[int]:
    watch = Watch()
    watch.init(handle)  # type: ignore[arg-type]
    return [row.last_seen // DAY for row in watch.handleExpiredTimer(KEY, TIMERS, TIMERS)]


def test_flights_in_any_order_raise_what_lies_between_them(handle: Handle) -> None:
    assert watch(handle, 40, 1, 15, 1) == [15]
    assert watch(handle, 39, 54, 80) == [54]
    assert handle.timers == {80 * DAY + ABSENT_MS}


def test_two_weeks_are_no_absence_and_more_are(handle: Handle) -> None:
    assert watch(handle, 0, 14, 29) == [14]


def test_the_timer_raises_what_no_flight_has_and_only_once(handle: Handle) -> None:
    assert watch(handle, 1) == []
    assert expire(handle) == [1]
    assert handle.value is None
    assert watch(handle, 60) == []


def test_a_flight_that_comes_again_moves_no_timer(handle: Handle) -> None:
    watch(handle, 5)
    handle.timers.clear()
    assert watch(handle, 4, 5) == []
    assert handle.timers == set()


def test_alerts_are_numbered_on_until_they_are_forgotten(handle: Handle) -> None:
    def numbers(*days: int) -> list[tuple[int, int]]:
        numbering = Numbering()
        numbering.init(handle)  # type: ignore[arg-type]
        rows = (SimpleNamespace(last_seen=day) for day in days)
        found = numbering.handleInputRows(KEY, rows, TIMERS)
        return [(row.last_seen, row.number) for row in found]

    assert numbers(9, 3) == [(3, 1), (9, 2)]
    assert numbers(20) == [(20, 3)]
    assert handle.ttl == FORGOTTEN_MS
    handle.value = None
    assert numbers(30) == [(30, 1)]
