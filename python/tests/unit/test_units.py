from __future__ import annotations

import pytest

from keyfold.text import units


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (2**60, "1024.0 PiB")],
)
def test_size(number: int, text: str) -> None:
    assert units.size(number) == text


def test_moment() -> None:
    assert units.moment(1_700_000_000_999) == "2023-11-14 22:13:20 UTC"
    assert units.moment(None) == "time unknown"


def test_span_and_plural() -> None:
    assert [units.span(5, 5), units.span(0, 1000)] == ["5", "0-1,000"]
    assert [units.plural(1, "row"), units.plural(2000, "row")] == ["1 row", "2,000 rows"]


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (999.9, "1.0 s"),
        (59_900, "59.9 s"),
        (59_960, "1 min"),
        (60_000, "1 min"),
        (61_000, "1 min 1 s"),
        (3_599_999, "59 min 59 s"),
        (11_520_000, "3 h 12 min"),
        (90_000_000, "1 d 1 h"),
        (None, "unknown"),
    ],
)
def test_durations_have_one_or_two_units(ms: float | None, text: str) -> None:
    assert units.duration(ms) == text
