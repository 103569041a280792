"""The pictures of figures show the numbers of the pages."""

from __future__ import annotations

from pathlib import Path

from bench.pictures.__main__ import draw
from bench.pictures.tables import DOCS, number, span


def test_pictures_are_drawn_from_the_pages_as_they_are(tmp_path: Path) -> None:
    draw(tmp_path)
    drawn = sorted(tmp_path.iterdir())
    assert len(drawn) == 7 + (DOCS / "benchmarks-nexmark.md").exists()
    for picture in drawn:
        stored = DOCS / "img" / picture.name
        assert picture.read_bytes() == stored.read_bytes(), "run `make bench-pictures`"


def test_cells_are_read_as_people_read_them() -> None:
    assert number("1,130") == 1130
    assert number("5,600<br>4.94x of 12x ✗") == 5600
    assert span("1,502 to 1,654") == (1502, 1654)
    assert span("0.575") == (0.575, 0.575)
    assert number("not run") is None
    assert number("") is None
