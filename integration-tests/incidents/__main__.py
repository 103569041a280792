"""Incidents of stopped queries, one for each seed, ended by what the messages advise.

Usage: python -m incidents [--seed N] [--runs N] [--steps]
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from incidents.walk import Walk, WrongEndError
from kit.session import session


def main() -> int:
    """Exit code 1 if one did not end well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--steps", action="store_true", help="print what is said and done")
    options = parser.parse_args()
    start, failed = time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder, session(Path(folder), {}) as spark:
        walk = Walk(spark, Path(folder), print if options.steps else lambda _: None)
        for seed in range(options.seed, options.seed + options.runs):
            try:
                print(walk.run(seed), flush=True)
            except WrongEndError as error:
                failed.append(seed)
                print(f"WRONG: {error}", flush=True)
    for what, times in [*walk.ends.most_common(), *walk.followed.most_common()]:
        print(f"{times:>6,}  {what}")
    print(f"{time.monotonic() - start:,.0f} s; wrong: {failed or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
