"""Draws each column of a CSV over the first: draw.py CSV SVG."""

import csv
import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

WIDE = 4
# The same CSV must give the same file.
STYLE = {"svg.hashsalt": "keyfold", "font.size": 8, "axes.spines.top": False}


def main() -> None:
    source, target = map(Path, sys.argv[1:])
    with source.open(newline="") as file:
        names, *rows = csv.reader(file)
    values = [[float(row[column]) for row in rows] for column in range(len(names))]
    high = -(-(len(names) - 1) // WIDE)
    with mpl.rc_context({**STYLE, "axes.spines.right": False}):
        figure = Figure(figsize=(3 * WIDE, 1.8 * high), layout="constrained")
        for place, (name, its) in enumerate(zip(names[1:], values[1:], strict=True)):
            axes = figure.add_subplot(high, WIDE, place + 1, title=name)
            axes.plot(values[0], its, linewidth=1)
            axes.set_ylim(0, max(its) * 1.1 or 1)
            axes.yaxis.set_major_formatter(EngFormatter(sep=""))
            axes.set_xlabel(names[0])
        figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main()
