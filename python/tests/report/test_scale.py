from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyfold.report.figure import byte_ticks

KIB, MIB = 1024, 1024**2
HUNDREDS = (200, 400, 600, 800)


@pytest.mark.parametrize(
    ("top", "places", "labels"),
    [
        (0.9, [0], ["0"]),
        (3, [0, 1, 2, 3], ["0", "1 B", "2 B", "3 B"]),
        (1100, [0, 256, 512, 768, 1024], ["0", "0.25 KiB", "0.5 KiB", "0.75 KiB", "1 KiB"]),
        (976 * KIB, [it * 200 * KIB for it in range(5)], ["0", *(f"{it} KiB" for it in HUNDREDS)]),
        (5.5 * MIB, [0, 2 * MIB, 4 * MIB], ["0", "2 MiB", "4 MiB"]),
    ],
)  # fmt: skip
def test_bytes_are_round_in_their_unit(top: float, places: list[float], labels: list[str]) -> None:
    assert byte_ticks(top) == (places, labels)


@settings(deadline=None)
@given(st.floats(min_value=8, max_value=1e18))
def test_ticks_cover_the_axis_evenly(top: float) -> None:
    places, labels = byte_ticks(top)
    assert 3 <= len(places) == len(set(labels)) <= 6
    steps = [later - earlier for earlier, later in pairwise(places)]
    assert steps == pytest.approx([steps[0]] * len(steps))
    assert top - steps[0] < places[-1] * (1 + 1e-9)
    assert places[-1] <= top * (1 + 1e-9)
