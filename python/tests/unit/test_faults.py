"""docs/design/faults.md names, for every fault, tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "design" / "faults.md"
ROWS = [
    [cell.strip() for cell in line.strip("|\n").split("|")]
    for line in PAGE.read_text().splitlines()
    if re.match(r"\| \d+ \|", line)
]
TEST = re.compile(r"\[\w+\]\(([^)]+)\): (.+)")


def titles(source: Path) -> list[str]:
    """Of a suite in Scala, all its texts, among them the titles; in Python, names of functions."""
    pattern = r"^def (test_\w+)" if source.suffix == ".py" else r'"((?:[^"\\\n]|\\.)*)"'
    return re.findall(pattern, source.read_text(), re.MULTILINE)


def test_the_faults_are_those_from_1_to_21() -> None:
    assert [int(row[0]) for row in ROWS] == list(range(1, 22))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_tests_of_a_fault_are_there_and_have_its_number(row: list[str]) -> None:
    number, _, outcome, tests = row
    assert outcome
    for test in tests.split("<br>"):
        found = TEST.fullmatch(test)
        assert found is not None, test
        source = (PAGE.parent / found[1]).resolve()
        ending = f"_fault_{number}" if source.suffix == ".py" else f"(fault {number})"
        assert any(found[2] in title and title.endswith(ending) for title in titles(source)), (
            f"{found[1]} has no test named {found[2]!r} that ends with {ending}"
        )
