"""docs/doctor.md has each rule of the code, word for word."""

from __future__ import annotations

import re

from keyfold.doctor.doctor import RULES
from kit.places import ROOT
from python.tests.doctor.rules import GIVEN

PAGE = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
TABLE = re.findall(r"^\| `([a-z0-9-]+)` \| (.*) \| (.*) \|$", PAGE, re.MULTILINE)


def test_the_table_has_all_rules_with_their_limits() -> None:
    assert [(name, given) for name, given, _ in TABLE] == [
        (name, given) for name, (_, given) in GIVEN.items()
    ]
    assert tuple(judge for judge, _ in GIVEN.values()) == RULES


def test_the_reasons_are_those_of_the_code() -> None:
    for name, _, reason in TABLE:
        # The text below the heading of the function that judges.
        _, _, why = str(GIVEN[name][0].__doc__).partition("\n\n")
        assert " ".join(why.split()) == f"{reason[0].upper()}{reason[1:]}."
