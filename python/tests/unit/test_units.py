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
    [(0, "0 ms"), (999, "999 ms"), (1000, "1.0 s"), (119_000, "119.0 s"), (120_000, "2.0 min"),
     (7_200_000, "2.0 h"), (172_800_000, "2.0 days")],
)  # fmt: skip
def test_duration(ms: float, text: str) -> None:
    assert units.duration(ms) == text


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("512m", 512 << 20), (" 4G ", 4 << 30), ("1kb", 1024), ("7", 7), ("2t", 2 << 40),
     ("", None), ("4x", None), ("1.5g", None), ("-1", None), ("٣", None)],
)  # fmt: skip
def test_size_as_settings_have_it(text: str, number: int | None) -> None:
    assert units.parsed_size(text) == number
