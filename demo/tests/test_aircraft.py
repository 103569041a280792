"""The record of an aircraft: the same in any order of flights, complete once, and then gone."""

from itertools import permutations
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest

from demo.aircraft import COLUMNS, YEAR_IS_OVER, LogBook, keep

NOON = 1_357_041_600


def legs(*rows: tuple[float | None, int]) -> pd.DataFrame:
    """Flights of 100 miles by delay, none if cancelled, and hours after noon."""
    return pd.DataFrame(
        {
            "cancelled": [int(delay is None) for delay, _ in rows],
            "miles": [0 if delay is None else 100 for delay, _ in rows],
            "dep_delay": pd.array([delay for delay, _ in rows], "Float64").astype("float64"),
            "event_time": pd.to_datetime([NOON + 3600 * hour for _, hour in rows], unit="s"),
        }
    )


class State:
    """What the function uses of Spark's GroupState."""

    def __init__(self, value: tuple[Any, ...] | None = None, *, hasTimedOut: bool = False) -> None:  # noqa: N803
        self.get = value
        self.hasTimedOut = hasTimedOut
        self.timeout: int | None = None

    @property
    def exists(self) -> bool:
        return self.get is not None

    def update(self, value: tuple[Any, ...]) -> None:
        self.get = value

    def remove(self) -> None:
        self.get = None

    def setTimeoutTimestamp(self, timestamp: int) -> None:  # noqa: N802
        self.timeout = timestamp


def kept(state: State, *batches: pd.DataFrame) -> list[dict[str, Any]]:
    frames = list(keep(("N1",), iter(batches), state))  # type: ignore[arg-type]
    return [row for frame in frames for row in frame.to_dict("records")]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_record_does_not_depend_on_the_order_of_flights(order: tuple[int, ...]) -> None:
    parts = [legs((5, 2), (None, 9)), legs((None, -3)), legs((-4, 4), (31, 0))]
    whole = LogBook(5, 2, 300, 31, NOON - 3 * 3600, NOON + 9 * 3600)
    state = State()
    for part in order:
        row = kept(state, parts[part])
    assert state.get is not None
    assert LogBook(*state.get) == whole
    assert [row[0][name] for name in COLUMNS[:4]] == ["N1", False, 5, 2]
    assert LogBook.of(pd.concat(parts)) == whole


def test_an_aircraft_that_never_departed_has_no_longest_delay() -> None:
    state = State()
    kept(state, legs((None, 1)), legs((None, 2)))
    assert state.get == (2, 2, 0, None, NOON + 3600, NOON + 7200)


def test_the_year_ends_with_a_complete_record_and_no_state() -> None:
    state = State()
    kept(state, legs((5, 2)))
    assert state.timeout == YEAR_IS_OVER
    over = State(state.get, hasTimedOut=True)
    (row,) = kept(over)
    assert (row["complete"], row["flights"], row["longest_delay"]) == (True, 1, 5)
    assert not over.exists
