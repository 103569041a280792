"""Draw the pictures of the pages of figures, each from the tables that are on a page."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from bench.pictures.charts import Bar, Curve, bars, color, curves, figure, save, short, styled
from bench.pictures.tables import DOCS, number, rows, span, tables

COUNT, RESCALE = "streaming count, batch of 200k, ", "rescale, 16 to 32 partitions, "
FAILED, SKIPPED = "#B00020", "#D9D9D9"


def main() -> None:
    """Draw all of them."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    draw(DOCS / "img")


def draw(folder: Path) -> None:
    """All pictures, into a folder; those of a page that has not been made yet are left out."""
    with mpl.rc_context(styled()):
        for name, made in (
            ("batch-by-keys", batch_by_keys),
            ("rescale-by-size", rescale_by_size),
            ("benchmarks", factors),
            ("benchmarks-checkpoints", places),
            ("benchmarks-nexmark", nexmark),
            ("benchmarks-python", questions),
            ("benchmarks-operator-state", subtasks),
            ("conformance", conformance),
        ):
            if name != "benchmarks-nexmark" or (DOCS / f"{name}.md").exists():
                save(made(), folder / f"{name}.svg")


def batch_by_keys() -> Figure:
    """A streaming count by each provider and by none, over its number of keys."""
    names = ("HDFSBacked", "RocksDB counting", "RocksDB not counting", "Keyfold", "no store")
    found = [curve(name, of_benchmarks(name, COUNT)) for name in names]
    made = figure(4.2)
    axes = made.add_subplot(
        title="A streaming count, batches of 200,000 rows: milliseconds a batch"
    )
    curves(axes, found, "ms")
    axes.set_xlabel("keys in the state (logarithmic)")
    return made


def rescale_by_size() -> Figure:
    """The time of a rescale, over the size of the state."""
    found = [
        Curve(name, [(x, low / 1000, high / 1000) for x, low, high in curve(name, cells).points])
        for name in ("RocksDB counting", "RocksDB not counting", "Keyfold")
        for cells in [of_benchmarks(name, RESCALE)]
    ]
    made = figure(4.2)
    axes = made.add_subplot(title="A rescale from 16 to 32 partitions: seconds")
    curves(axes, found, "s")
    axes.set_xlabel("rows in the state (logarithmic); RocksDB: by Spark's own repartition")
    return made


def curve(name: str, cells: Iterator[tuple[str, str]]) -> Curve:
    """Of pairs of cells, x and y; those without a number are left out."""
    points = []
    for x, y in cells:
        ends = span(y)
        if ends:
            scale = {"k": 1e3, "M": 1e6}.get(x[-1], 1.0)
            points.append((scale * (number(x) or 0), *ends))
    return Curve(name, points)


def of_benchmarks(name: str, what: str) -> Iterator[tuple[str, str]]:
    """Of the lines of that kind: how many rows or keys, and the provider's cell."""
    for row in rows("benchmarks.md"):
        if row.get("what", "").startswith(what):
            yield row["what"].removeprefix(what).removesuffix(" int"), row[name]


def factors() -> Figure:
    """How many times better Keyfold is, in each line of the page and by each provider."""
    names = ("HDFSBacked", "RocksDB counting", "RocksDB not counting")
    lines = [row for row in rows("benchmarks.md") if any("x" in row[it] for it in names)]
    made = figure(0.27 * len(lines) + 1.2)
    axes = made.add_subplot()
    for name in names:
        points = [
            (number(row[name].split("<br>")[1]), -place)
            for place, row in enumerate(lines)
            if "<br>" in row[name]
        ]
        xs, ys = zip(*points, strict=True)
        axes.scatter(xs, ys, color=color(name), label=name, s=36, zorder=3)
    axes.axvline(1, color="#444444", linewidth=1)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}x"))
    axes.set_xlabel("Keyfold is worse            Keyfold is better than ...")
    axes.set_yticks([-it for it in range(len(lines))], [it["what"] for it in lines], fontsize=9)
    axes.set_ylim(-len(lines), 1)
    axes.grid(color="#ececec")
    made.legend(loc="outside upper center", ncols=len(names), frameon=False)
    return made


def places() -> Figure:
    """Milliseconds a batch by each provider, a chart for each place."""
    found = tables("benchmarks-checkpoints.md")
    made = figure(0.27 * sum(len(it.rows) + 1.6 for it in found))
    grid = made.add_gridspec(len(found), height_ratios=[len(it.rows) for it in found])
    for place, table in enumerate(found):
        shown = [bar(it["provider"], it["ms a batch"], it["provider"]) for it in table.rows]
        bars(made.add_subplot(grid[place]), shown, table.heading)
    made.suptitle("Milliseconds a batch", fontsize=12)
    return made


def nexmark() -> Figure:
    """Events a second of each query, a bar for each provider; of the first such table."""
    table, *_ = (it for it in tables("benchmarks-nexmark.md") if it.heading.startswith("Events"))
    stores = [it for it in table.rows[0] if it != "query"]
    made = figure(0.16 * len(stores) * len(table.rows) + 1.2)
    axes = made.add_subplot()
    for place, store in enumerate(stores):
        shown = [number(it[store]) or 0 for it in table.rows]
        at = [row + (place - (len(stores) - 1) / 2) * 0.2 for row in range(len(shown))]
        axes.barh(at, shown, height=0.2, color=color(store), label=store)
    axes.set_yticks(range(len(table.rows)), [it["query"] for it in table.rows])
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(FuncFormatter(short))
    axes.grid(axis="x", color="#e3e3e3")
    axes.set_axisbelow(True)
    axes.set_title(table.heading.replace("Events", "Nexmark: events", 1))
    made.legend(loc="outside upper center", ncols=len(stores), frameon=False)
    return made


def questions() -> Figure:
    """Milliseconds of an answer, a chart for each question."""
    table, *_ = tables("benchmarks-python.md")
    made = figure(1.75 * len(table.rows))
    for place, row in enumerate(table.rows):
        readers = [it.removesuffix(", ms") for it in row if it.endswith(", ms")]
        found = [bar(it, row[f"{it}, ms"], it) for it in readers]
        axes = made.add_subplot(len(table.rows), 1, place + 1)
        bars(axes, found, f"{row['question']}: ms")
    return made


def subtasks() -> Figure:
    """Milliseconds a batch of each case, a chart for each size of batch and number of subtasks."""
    table, *_ = tables("benchmarks-operator-state.md")
    shapes = list(dict.fromkeys((it["rows a batch"], it["subtasks"]) for it in table.rows))
    made = figure(2.2 * len(shapes))
    for place, shape in enumerate(shapes):
        found = []
        for row in table.rows:
            if (row["rows a batch"], row["subtasks"]) != shape:
                continue
            case = row["what they go through"].replace("`", "").replace("an operator that ", "")
            if row["RocksDB, ms a batch"] == "-":
                found.append(bar(case, row["Keyfold, ms a batch"], "no store"))
            else:
                found += [
                    bar(f"{case}, {name}", row[f"{name}, ms a batch"], name)
                    for name in ("Keyfold", "RocksDB")
                ]
        axes = made.add_subplot(len(shapes), 1, place + 1)
        noun = "subtask" if shape[1] == "1" else "subtasks"
        bars(axes, found, f"{shape[0]} rows a batch, {shape[1]} {noun}: ms a batch")
    return made


def conformance() -> Figure:
    """Tests of Spark's that passed, failed and were skipped, a bar for each provider."""
    runs, *_ = tables("conformance.md")
    made = figure(0.42 * len(runs.rows) + 0.9)
    axes = made.add_subplot()
    names = [it["version"].split(", ")[-1] for it in runs.rows]
    names = [f"{it['provider']}, {name}" for it, name in zip(runs.rows, names, strict=True)]
    begins = [0.0] * len(names)
    for kind, fill in (("passed", None), ("failed", FAILED), ("skipped", SKIPPED)):
        counts = [number(it[kind]) or 0 for it in runs.rows]
        axes.barh(names, counts, left=begins, color=fill or [color(it) for it in names])
        begins = [begin + count for begin, count in zip(begins, counts, strict=True)]
    axes.invert_yaxis()
    for place, (it, end) in enumerate(zip(runs.rows, begins, strict=True)):
        text = f"{it['passed']} passed, {it['failed']} failed, {it['skipped']} skipped"
        axes.annotate(text, (end, place), (4, 0), textcoords="offset points", va="center")
    axes.set_xlim(right=1.65 * max(begins))
    axes.xaxis.set_visible(False)
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_title("Spark's own tests on each provider")
    return made


def bar(name: str, cell: str, color_of: str) -> Bar:
    """Of a cell with a number."""
    return Bar(name, number(cell) or 0, cell, color_of)


if __name__ == "__main__":
    main()
