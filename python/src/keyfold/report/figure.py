"""Figures as SVG for a page that may be light or dark, with round numbers on their axes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from io import StringIO
from typing import Any

from keyfold.errors import ExtraMissingError
from keyfold.text.units import unit_of

# This colour is replaced by the page's text colour.
_INK = "#010203"
COLOURS = ("#3b82c4", "#d9822b", "#3f9b6c", "#9a6bc2", "#c2566b")
GREY = "#8a8f98"
_WIDTH, _HEIGHT = 9.0, 2.9
_STYLE = {
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": GREY,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GREY,
    "grid.alpha": 0.25,
    "font.size": 10.0,
    "svg.fonttype": "none",
    "svg.hashsalt": "keyfold",
    "font.family": "sans-serif",
    # Names must not be parsed as formulas.
    "text.parse_math": False,
}


class Canvas:
    """A figure; `svg` is set at the end of the `with` block."""

    def __init__(self, figure: Any) -> None:  # noqa: ANN401 - Matplotlib's own
        self.figure = figure
        self.svg = ""

    def axes(self, row: int = 1, rows: int = 1) -> Any:  # noqa: ANN401
        """Axes side by side."""
        return self.figure.add_subplot(1, rows, row)

    def legend(self, axes: Any) -> None:  # noqa: ANN401
        """A line below the figure that names what these axes show."""
        handles, labels = axes.get_legend_handles_labels()
        self.figure.legend(handles, labels, loc="outside lower left", ncols=4, frameon=False)


def is_installed() -> bool:
    """Whether Matplotlib is installed."""
    try:
        import_module("matplotlib.figure")
    except ImportError:
        return False
    return True


@contextmanager
def drawing(title: str, *, height: float = _HEIGHT) -> Iterator[Canvas]:
    """A figure with a title for screen readers; raises ExtraMissingError.

    `height` is in inches, of which the page's width has 9.
    """
    try:
        matplotlib = import_module("matplotlib")
        figures = import_module("matplotlib.figure")
    except ImportError as error:
        raise ExtraMissingError(
            "Charts need Matplotlib. Install it with `pip install 'keyfold[report]'`."
        ) from error
    with matplotlib.rc_context(_STYLE):
        canvas = Canvas(figures.Figure(figsize=(_WIDTH, height), layout="constrained"))
        yield canvas
        text = StringIO()
        canvas.figure.savefig(
            text, format="svg", transparent=True, metadata={"Date": None, "Title": title}
        )
    canvas.svg = _inline(text.getvalue(), title)


def _inline(svg: str, title: str) -> str:
    """An SVG element to put into a page."""
    found = svg[svg.index("<svg") :].replace(_INK, "currentColor")
    found = re.sub(r"<metadata>.*?</metadata>", "", found, flags=re.DOTALL)
    found = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", found, count=1)
    found = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", found, count=1)
    return found.replace("<svg", f'<svg role="img" aria-label="{title}" style="width:100%"', 1)


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
