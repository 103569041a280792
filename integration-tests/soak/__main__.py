"""A query of each kind at the same time, and what the application takes meanwhile.

Usage: python -m soak SECONDS CSV [--provider rocksdb] [--only WORD]
"""

import argparse
import csv
import sys
import tempfile
import time
from pathlib import Path

from soak.application import PROVIDERS, Application

SAMPLE_S = 10


def watch(application: Application, seconds: int, path: Path) -> None:
    """Writes a line every few seconds."""
    deadline = time.monotonic() + seconds
    with path.open("w", newline="") as file:
        out = None
        while time.monotonic() < deadline:
            time.sleep(SAMPLE_S)
            sample = application.sample()
            if out is None:
                out = csv.DictWriter(file, sample)
                out.writeheader()
            out.writerow(sample)
            file.flush()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("seconds", type=int)
    parser.add_argument("csv", type=Path)
    parser.add_argument("--provider", choices=PROVIDERS)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="keyfold-soak") as folder:
        application = Application(Path(folder), arguments.provider, arguments.only)
        try:
            watch(application, arguments.seconds, arguments.csv)
            problems = application.end(deep=arguments.provider is None)
        finally:
            application.stop()
    for it in problems:
        print(f"WRONG: {it}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
