"""Replays the year 2013, one file a day: flights, some of them again a day later, and weather.

Each day also has limits of the delays, which come from the flights of the day before.
"""

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

from demo.day_files import by_day, write_file
from demo.limits import write_limits
from demo.originals import FLIGHTS, WEATHER, original

# Every fourth flight of a day comes again in the next day's file.
REPEAT_EVERY = 4

# The last file of each holds one row of no airline, aircraft or airport, months after the others.
# It moves the watermark past every window, so that append mode emits them all, and past every
# flight that waits for its weather; its own window stays open and unseen. That of the flights comes
# twice: a query that has no batches without input needs a second one to see that time has passed.
END_MARK = "--"
END_FLIGHT = (
    f"2014,6,1,NA,0,NA,NA,0,NA,{END_MARK},0,{END_MARK},NA,NA,NA,0,0,0,2014-06-01T00:00:00Z\n"
)
END_WEATHER = f"{END_MARK},2014,6,1,0,NA,NA,NA,NA,NA,NA,NA,NA,NA,2014-06-01T00:00:00Z\n"


@dataclass(frozen=True)
class Replayed:
    """What was written: files and distinct flights, flights that come again, hours of weather.

    And limits of delays.
    """

    files: int
    flights: int
    repeats: int
    observations: int = 0
    limits: int = 0


def replay(flights: Path, weather: Path, limits: Path) -> Replayed:
    """Write the year to three folders as CSV files, rows as they stand in the originals."""
    header, days = flight_days()
    files, distinct, repeats = replay_flights(flights, header, days)
    told = write_limits(limits, header, days)
    return Replayed(files, distinct, repeats, replay_weather(weather), told)


def flight_days() -> tuple[str, list[tuple[str, list[str]]]]:
    """Read the flights' header, and their rows by day."""
    with zipfile.ZipFile(original(FLIGHTS)) as zipped, zipped.open("flights.csv") as raw:
        lines = io.TextIOWrapper(raw, encoding="utf-8", newline="\n")
        return next(lines), by_day(lines, year_column=0)


def replay_flights(
    folder: Path, header: str, days: list[tuple[str, list[str]]]
) -> tuple[int, int, int]:
    """Write the flights; return the number of files, of distinct flights and of repeats."""
    folder.mkdir(parents=True)
    flights = repeats = 0
    again: list[str] = []
    for index, (day, rows) in enumerate(days):
        write_file(folder / f"flights-{day}.csv", [header, *rows, *again], index)
        flights += len(rows)
        repeats += len(again)
        again = rows[::REPEAT_EVERY]
    for closing in (1, 2):
        path = folder / f"flights-end-{closing}.csv"
        write_file(path, [header, END_FLIGHT], len(days) + closing - 1)
    return len(days) + 2, flights, repeats


def replay_weather(folder: Path) -> int:
    """Write the weather; return the number of observations, one an airport and hour."""
    folder.mkdir(parents=True)
    with original(WEATHER).open(encoding="utf-8", newline="\n") as lines:
        header = next(lines)
        days = by_day(lines, year_column=1)
    for index, (day, rows) in enumerate(days):
        write_file(folder / f"weather-{day}.csv", [header, *rows], index)
    write_file(folder / "weather-end.csv", [header, END_WEATHER], len(days))
    return sum(len(rows) for _, rows in days)
