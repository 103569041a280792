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
