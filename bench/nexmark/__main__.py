"""Measure Nexmark's queries with each provider and write the page, or check their answers."""

import argparse
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession
from rich.console import Console

from bench.nexmark.cases import Size, cases, results
from bench.nexmark.check import differences
from bench.nexmark.measure import measured
from bench.nexmark.page import PAGE, page
from bench.nexmark.queries import ASKED, STATEFUL
from bench.nexmark.stores import NOTHING, STORES, shared

console = Console(stderr=True)
WITHOUT_NOTHING = [it for it in STORES if it != NOTHING]


def check(names: list[str], stores: list[str]) -> None:
    """Print a line for each answer; exit with 1 if one differs."""
    queries = [it for it in ASKED if it.name in names or not names]
    with tempfile.TemporaryDirectory(prefix="keyfold-nexmark-") as scratch:
        settings = shared(Path(scratch), partitions=2, cores=2)
        spark = SparkSession.builder.config(map=dict(settings)).getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        differ = False
        for line in differences(spark, queries, stores or WITHOUT_NOTHING):
            differ |= line.startswith("DIFFERS")
            console.print(line, soft_wrap=True, markup=False)
        spark.stop()
    raise SystemExit(int(differ))


def measure(names: list[str], stores: list[str], size: Size) -> None:
    """Run the cases that have no result yet, each in processes of its own.

    Of all of them the page is written; some are only kept for it and printed.
    """
    there = results()
    chosen = [it.name for it in STATEFUL if it.name in names or not names]
    for case in cases(chosen, stores or list(STORES), size):
        if there.of(case) is None:
            found = measured(case)
            there.add(case, found)
            console.print(case, found, soft_wrap=True, markup=False)
    if not names and not stores:
        PAGE.write_text(page(there), encoding="utf-8")


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="compare with batch, and write nothing"
    )
    parser.add_argument(
        "--page", action="store_true", help="write the page of the results there are"
    )
    parser.add_argument("--query", default="", help="some, such as q4,q18")
    parser.add_argument("--store", default="", help="some, such as Keyfold,RocksDB")
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--times", type=float, default=1, help="more events in all, such as 10")
    asked = parser.parse_args()
    names, stores = ([it for it in text.split(",") if it] for text in (asked.query, asked.store))
    if asked.check:
        check(names, stores)
    elif asked.page:
        PAGE.write_text(page(results()), encoding="utf-8")
    else:
        measure(names, stores, Size.of(asked.partitions, asked.times))


if __name__ == "__main__":
    main()
