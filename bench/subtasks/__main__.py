"""Measure what the state of an operator's subtasks costs, and write the page."""

import argparse
import platform
import tempfile
from pathlib import Path

import pyspark
from rich.console import Console

from bench.revision import revision
from bench.states import PROVIDERS, session
from bench.subtasks.query import CASES, MEASURED, WARM_UP, Shape, seconds

# HDFSBacked cannot keep such state.
STORES = {name: provider for name, provider in PROVIDERS.items() if name != "HDFSBacked"}
SHAPES = (Shape(10_000, 1), Shape(100_000, 1), Shape(100_000, 2))
HEAD = (
    "rows a batch",
    "subtasks",
    "what they go through",
    "Keyfold, ms a batch",
    "rows a second of a subtask",
    "of `mapInPandas`",
    "RocksDB, ms a batch",
    "Keyfold faster",
)
PAGE = Path(__file__).parents[2] / "docs" / "benchmarks-operator-state.md"
console = Console(stderr=True)


def lines() -> list[str]:
    """Run each case, in turn, so that nothing runs beside it; lines of the table."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="keyfold-bench-") as scratch:
        folder = Path(scratch)
        spark = session(folder)
        for shape in SHAPES:
            plain = 0.0
            for case in CASES:
                took = {
                    name: seconds(spark, case, provider, shape, folder)
                    for name, provider in STORES.items()
                    if plain or name == "Keyfold"
                }
                ours = took["Keyfold"]
                plain = plain or ours
                other = took.get("RocksDB")
                rows.append(
                    f"| {shape.rows:,} | {shape.subtasks} | {case.text} | {ours * 1000:,.0f} | "
                    f"{shape.rows / ours / shape.subtasks:,.0f} | {plain / ours:.2f}x | "
                    + (f"{other * 1000:,.0f} | {other / ours:.2f}x |" if other else "- | - |")
                )
                console.print(rows[-1], soft_wrap=True)
        spark.stop()
    return rows


def page(rows: list[str]) -> str:
    """Write the text of the page."""
    return "\n".join(
        [
            "# Benchmarks of operator state",
            "",
            "![Milliseconds a batch](img/benchmarks-operator-state.svg)",
            "",
            "Written by `make bench`, do not edit. Made by [bench/subtasks](../bench/subtasks).",
            "",
            revision(),
            f"Spark {pyspark.__version__}, Python {platform.python_version()}.",
            "",
            "Batches of two columns, a time and a number, go through Python and come out as they",
            f"are. Medians of {MEASURED} batches after {WARM_UP} that do not count. The times",
            "include Spark's own part of a batch. An operator that appends has all rows of the",
            "batches before in its list.",
            "",
            f"| {' | '.join(HEAD)} |",
            "| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |",
            *rows,
            "",
        ]
    )


def main() -> None:
    """Measure, and write the page."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    PAGE.write_text(page(lines()), encoding="utf-8")


if __name__ == "__main__":
    main()
