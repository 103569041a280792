"""Measure counts whose state does not fit into memory, and write the page."""

import argparse
from pathlib import Path
from typing import Final

import pyspark

from bench.bigstate import large, small
from bench.revision import revision

PAGE: Final = Path(__file__).parents[2] / "docs" / "benchmarks-bigstate.md"
TABLES: Final = {"Large batches": large, "Small batches": small}


def page(tables: dict[str, list[str]]) -> str:
    """Write the text of the page."""
    parts = [
        "# Benchmarks with more state than memory",
        "",
        "Written by `make bench-bigstate`, do not edit. Made by",
        "[bench/bigstate](../bench/bigstate).",
        "",
        revision(),
        f"Spark {pyspark.__version__}.",
    ]
    for name, rows in tables.items():
        parts += ["", f"## {name}", TABLES[name].TEXT, *rows]
    return "\n".join([*parts, ""])


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, nargs="+", help="of the states; by default both sizes")
    parser.add_argument("--batches", type=int, default=20, help="large ones that are measured")
    parser.add_argument("--small-batches", type=int, default=400, help="that are measured")
    parser.add_argument("--table", choices=TABLES, help="this table only, printed, not the page")
    chosen = parser.parse_args()
    counts = {"Large batches": chosen.batches, "Small batches": chosen.small_batches}
    found = {
        name: list(table.lines(chosen.keys or table.KEYS, counts[name]))
        for name, table in TABLES.items()
        if chosen.table in {None, name}
    }
    if chosen.table is None:
        PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
