"""The registry of conditions is true of both languages, and the page is made from it."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[3]
REGISTRY = runpy.run_path(str(ROOT / "build/errors_page.py"))
SOURCES = [*ROOT.glob("jvm/*/src/main/**/*.scala"), *ROOT.glob("python/src/**/*.py")]


def test_every_condition_in_the_sources_is_documented_and_no_other() -> None:
    documented = [name for its in REGISTRY["conditions"]().values() for name in its]
    found = {
        name
        for file in SOURCES
        for name in re.findall(r"\"(KEYFOLD_[A-Z_]+)\"", file.read_text(encoding="utf-8"))
    }
    assert len(documented) == len(set(documented))
    assert set(documented) == found


def test_the_page_is_made_from_the_registry() -> None:
    page = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
    assert page == REGISTRY["page"](), "run `make docs`"
