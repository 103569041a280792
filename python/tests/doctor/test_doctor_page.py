"""docs/doctor.md has each rule of the code, word for word."""

from __future__ import annotations

import re

from keyfold.doctor.doctor import RULES
from kit.places import ROOT

PAGE = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")


def test_the_table_has_all_rules_with_their_limits_and_reasons() -> None:
    found = re.findall(r"^\| `([a-z0-9-]+)` \| (.*) \| (.*) \|$", PAGE, re.MULTILINE)
    assert [(name, given) for name, given, _ in found] == [(it.name, it.given) for it in RULES]
    for it, (*_, reason) in zip(RULES, found, strict=True):
        # The text below the heading of the function that judges.
        _, _, why = str(it.judge.__doc__).partition("\n\n")
        assert " ".join(why.split()) == f"{reason[0].upper()}{reason[1:]}."


def test_names_are_unique() -> None:
    assert len({it.name for it in RULES}) == len(RULES)
