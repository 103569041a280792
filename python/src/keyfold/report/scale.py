"""Ticks of axes: round numbers in readable units."""

from __future__ import annotations

from typing import Any

from keyfold.text.units import unit_of


def byte_ticks(top: float) -> tuple[list[float], list[str]]:
    """Places from 0 to at most `top` bytes, each a round number in one unit, and their labels."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - an optional package

    name, unit = unit_of(top)
    locator = MaxNLocator(nbins=5, integer=unit == 1, steps=[1, 2, 2.5, 5, 10])
    most = top / unit * (1 + 1e-9)
    # Below 1 the locator gives fractions.
    places = [float(it) for it in locator.tick_values(0, max(most, 1)) if it <= most]
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
