"""Runs a query for each seed on Spark's own providers and on Keyfold, and compares them.

Usage: python -m likespark [--seed N] [--runs N] [--operator WORDS] [--seconds N]
"""

import argparse
import os
import sys
import tempfile
import time
from itertools import count, islice
from pathlib import Path

from kit.session import session
from likespark.runs import SETTINGS, Runs
from likespark.world import World

LOG = "spark.log"


def say_to(log: Path) -> None:
    """Sends there what this process and all that it starts write of themselves."""
    with log.open("w", encoding="utf-8") as file:
        os.dup2(file.fileno(), 2)


def main() -> int:
    """Exit code 1 if Keyfold failed or answered otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--operator", default="", help="only seeds with this in its name")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin none after that")
    options = parser.parse_args()
    start = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="keyfold-like-spark-"))
    print(
        f"What Spark, its workers and a failure of this program say is in {folder / LOG}.",
        flush=True,
    )
    say_to(folder / LOG)
    with session(folder, SETTINGS) as spark:
        runs = Runs(spark, folder)
        chosen = (it for it in count(options.seed) if options.operator in World(it).operator.name)
        for seed in islice(chosen, options.runs):
            began = time.monotonic()
            if began - start > options.seconds:
                print(f"time is up before seed {seed}")
                break
            print(f"{runs.run(seed)} ({time.monotonic() - began:.1f} s)", flush=True)
    print(runs.summary())
    print(f"{time.monotonic() - start:,.0f} s; failed: {runs.failed or 'none'}")
    return 1 if runs.failed else 0


if __name__ == "__main__":
    sys.exit(main())
