"""Runs lives of queries, one for each seed, until one of them loses or invents a row.

Usage: python -m crash [--seed N] [--runs N] [--kind WORDS] [--seconds N] [--steps] [--hdfs]
"""

import argparse
import signal
import sys
import time
from itertools import count, islice

from crash.runs import runs

HDFS_BACKED = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"


def main() -> int:
    """Exit code 1 if a run failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--kind", default="", help="only seeds with this in their name")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin none after that")
    parser.add_argument("--steps", action="store_true", help="print the steps of each run")
    parser.add_argument("--hdfs", action="store_true", help="on HDFSBacked, which nobody changes")
    options = parser.parse_args()
    # So that nothing that was started is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    start = time.monotonic()
    with runs(HDFS_BACKED if options.hdfs else "") as them:
        them.talks = options.steps
        chosen = (it for it in count(options.seed) if options.kind in them.world(it).name)
        for seed in islice(chosen, options.runs):
            began = time.monotonic()
            if began - start > options.seconds:
                print(f"time is up before seed {seed}")
                break
            said = them.run(seed)
            took = time.monotonic() - began
            name = them.world(seed).name
            print(f"seed {seed}, {name}: {said or 'ok'} ({took:.1f} s)", flush=True)
        for what, times in sorted(them.counts.items()):
            print(f"{times:>10,}  {what}")
        print(f"{time.monotonic() - start:,.0f} s; failed: {them.failed or 'none'}")
        return 1 if them.failed else 0


if __name__ == "__main__":
    sys.exit(main())
