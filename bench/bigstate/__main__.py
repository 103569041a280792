"""Measure counts whose state does not fit into memory, and write the page."""

import argparse

from bench.bigstate.cases import KEYS, cases, results
from bench.bigstate.measure import measured
from bench.bigstate.page import PAGE, page
from bench.bigstate.process import STORES, console


def main() -> None:
    """Measure what has no result yet, and write the page of all that there is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, nargs="+", default=KEYS, help="of the states")
    parser.add_argument("--store", choices=STORES, nargs="+", help="some of the providers")
    parser.add_argument("--large", type=int, default=10, help="batches of each kind, measured")
    parser.add_argument("--small", type=int, default=200, help="batches that are measured")
    chosen = parser.parse_args()
    there = results()
    for case in cases(list(chosen.keys), chosen.large, chosen.small):
        if there.of(case) is None and case.store in (chosen.store or STORES):
            there.add(case, measured(case))
            PAGE.write_text(page(there), encoding="utf-8")
    console.print(PAGE.read_text(encoding="utf-8"), soft_wrap=True, markup=False)


if __name__ == "__main__":
    main()
