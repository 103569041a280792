"""The tables of a page of benchmarks, and the numbers in their cells."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).parents[2] / "docs"
_NUMBER: Final = re.compile(r"[\d,]*\.?\d+")


@dataclass(frozen=True)
class Table:
    """A table, the heading that it stands below, and its rows by the names of the columns."""

    heading: str
    rows: list[dict[str, str]]


def tables(page: str) -> list[Table]:
    """All tables of a page of `docs`, in order."""
    heading, lines, found = "", [], []
    for line in [*(DOCS / page).read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("|"):
            lines.append([cell.strip() for cell in line.strip("|").split("|")])
        elif lines:
            head, _, *rows = lines
            found.append(Table(heading, [dict(zip(head, row, strict=True)) for row in rows]))
            lines = []
        if line.startswith("#"):
            heading = line.lstrip("# ")
    return found


def rows(page: str) -> Iterator[dict[str, str]]:
    """The rows of all tables of a page."""
    for table in tables(page):
        yield from table.rows


def span(cell: str) -> tuple[float, float] | None:
    """The number that a cell begins with, or its two ends ("156 to 179"); None without one."""
    first, *_ = cell.split("<br>")
    found = [float(it.replace(",", "")) for it in _NUMBER.findall(first)]
    if not found or not first[0].isdigit():
        return None
    return found[0], found[1] if " to " in first else found[0]


def number(cell: str) -> float | None:
    """The number that a cell begins with, or the middle of its two ends."""
    ends = span(cell)
    return ends and sum(ends) / 2
