"""Ticks of axes: round numbers in readable units."""

from __future__ import annotations

import math
from typing import Any

from keyfold.text.units import unit_of

_MOST = 5
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def byte_ticks(top: float) -> tuple[list[float], list[str]]:
    """Places from 0 to at most `top` bytes, each a round number in one unit, and their labels."""
    name, unit = unit_of(top)
    wanted = max(top, 1.0) / unit / _MOST
    magnitude = 10.0 ** math.floor(math.log10(wanted))
    step = magnitude * next(it for it in _STEPS if wanted <= it * magnitude * (1 + 1e-9))
    if unit == 1:
        step = float(math.ceil(step))
    places = [step * number for number in range(math.floor(top / unit / step + 1e-9) + 1)]
    return [it * unit for it in places], [f"{it:,.6g} {name}" if it else "0" for it in places]


def in_bytes(axes: Any) -> None:  # noqa: ANN401 - Matplotlib's own
    """Makes a vertical axis show bytes from 0; must be called after everything is drawn."""
    axes.set_ylim(bottom=0)
    axes.set_yticks(*byte_ticks(axes.get_ylim()[1]))


def from_zero(axes: Any, *, integer: bool) -> None:  # noqa: ANN401
    """Makes a vertical axis show numbers from 0."""
    axes.set_ylim(bottom=0)
    numbers(axes.yaxis, integer=integer)


def numbers(axis: Any, *, integer: bool = True) -> None:  # noqa: ANN401
    """Puts a few round numbers on an axis; whole ones only if it shows counts."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - an optional package

    axis.set_major_locator(MaxNLocator(nbins=7, integer=integer, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(_plain)


def ranked(axes: Any, last: int) -> None:  # noqa: ANN401
    """Makes a horizontal axis show ranks from 1 on a logarithmic scale."""
    from matplotlib.ticker import NullFormatter  # noqa: PLC0415 - an optional package

    axes.set_xscale("log")
    axes.set_xlim(1, max(last + 1, 10))
    axes.xaxis.set_major_formatter(_plain)
    axes.xaxis.set_minor_formatter(NullFormatter())


def _plain(value: float, _place: int) -> str:
    return f"{value:,.10g}"
