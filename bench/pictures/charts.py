"""Two kinds of charts, the same style. They are dark on white, to be read on any background."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

# The same numbers must give the same file.
STYLE: Final = {
    "svg.hashsalt": "keyfold",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
}
COLORS: Final = {
    "Keyfold": "#0072B2",
    "HDFSBacked": "#D55E00",
    "RocksDB": "#009E73",
    "RocksDB counting": "#009E73",
    "RocksDB not counting": "#8A5FBF",
    "no store": "#777777",
}
OTHER: Final = "#999999"
WIDTH_IN: Final = 9.0


@dataclass(frozen=True)
class Curve:
    """Points of one provider: x, the lowest and the highest y."""

    name: str
    points: Sequence[tuple[float, float, float]]


@dataclass(frozen=True)
class Bar:
    """A bar: its name at the left, its text at its end; `color_of` is the provider's name."""

    name: str
    value: float
    text: str
    color_of: str


def color(name: str) -> str:
    """The provider's whose name it begins with."""
    return COLORS.get(name) or next((COLORS[it] for it in COLORS if name.startswith(it)), OTHER)


def short(number: float, _: object = None) -> str:
    """10k, 5M."""
    for unit, letter in ((1e6, "M"), (1e3, "k")):
        if number >= unit:
            return f"{number / unit:g}{letter}"
    return f"{number:g}"


def curves(axes: Axes, found: Sequence[Curve], unit: str) -> None:
    """Curves over a logarithmic x, each with its name and its last value at its right end."""
    axes.set_xscale("log")
    for curve in found:
        xs, lows, highs = zip(*curve.points, strict=True)
        middles = [(low + high) / 2 for low, high in zip(lows, highs, strict=True)]
        style = "--" if curve.name == "no store" else "-"
        axes.plot(xs, middles, style, marker="o", color=color(curve.name), linewidth=2)
        axes.fill_between(xs, lows, highs, color=color(curve.name), alpha=0.2, linewidth=0)
    axes.set_ylim(bottom=0)
    axes.set_xticks(sorted({x for curve in found for x, _, _ in curve.points}))
    axes.xaxis.set_major_formatter(FuncFormatter(short))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,g}"))
    axes.grid(axis="y", color="#e3e3e3")
    _labels(axes, found, unit)


def _labels(axes: Axes, found: Sequence[Curve], unit: str) -> None:
    """At the right ends, apart from each other by the height of a line."""
    least = 0.06 * axes.get_ylim()[1]
    y = -0.7 * least
    for it in sorted(found, key=lambda it: it.points[-1][1]):
        x, low, high = it.points[-1]
        y = max((low + high) / 2, y + least)
        ends = _figures(low) if low == high else f"{_figures(low)} to {_figures(high)}"
        axes.annotate(
            f"{it.name}: {ends} {unit}",
            (x, y),
            xytext=(10, 0),
            textcoords="offset points",
            va="center",
            color=color(it.name),
            annotation_clip=False,
        )


def _figures(value: float) -> str:
    """Three of them, or all before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004


def bars(axes: Axes, found: Sequence[Bar], title: str = "") -> None:
    """Horizontal bars, the first on top, each with its text at its end."""
    places = [-it for it in range(len(found))]
    axes.barh(
        places, [it.value for it in found], color=[color(it.color_of) for it in found], height=0.7
    )
    axes.set_yticks(places, [it.name for it in found])
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_visible(False)
    axes.spines["bottom"].set_visible(False)
    for place, it in zip(places, found, strict=True):
        axes.annotate(
            it.text, (it.value, place), xytext=(4, 0), textcoords="offset points", va="center"
        )
    axes.set_xlim(right=1.25 * max(it.value for it in found))
    axes.set_title(title)


def figure(height_in: float) -> Figure:
    """As wide as a page."""
    return Figure(figsize=(WIDTH_IN, height_in), layout="constrained")


def save(made: Figure, target: Path) -> None:
    """As SVG, whose letters are outlines: it looks the same everywhere."""
    made.savefig(target, metadata={"Date": None})


def styled() -> mpl.RcParams:
    """The style, for `with mpl.rc_context(...)`."""
    return mpl.RcParams({**mpl.rcParams, **STYLE})
