"""Rows of CSV split into one file a day, which Spark reads in the order of the days."""

import os
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

# 2014-01-01 UTC, in seconds: Spark takes files in the order of their modification times.
FIRST_MODIFIED = 1_388_534_400


def by_day(lines: Iterable[str], year_column: int) -> list[tuple[str, list[str]]]:
    """Group CSV lines by their date, in the order of time; the originals are ordered otherwise.

    Month and day stand in the two columns after that of the year.
    """

    def dated() -> Iterator[tuple[str, str]]:
        for line in lines:
            year, month, day = line.split(",", year_column + 3)[year_column : year_column + 3]
            yield f"{year}-{month:0>2}-{day:0>2}", line

    ordered = sorted(dated(), key=lambda pair: pair[0])
    return [
        (day, [line for _, line in pairs])
        for day, pairs in groupby(ordered, key=lambda pair: pair[0])
    ]


def write_file(path: Path, lines: Iterable[str], index: int) -> None:
    """Write one file and set its modification time to its place in the order."""
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    modified = FIRST_MODIFIED + index
    os.utime(path, (modified, modified))
