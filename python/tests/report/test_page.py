"""The page stands alone, has its pictures, and lets nothing in that is not text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import keyfold
from keyfold.errors import ExtraMissingError
from keyfold.report import figure
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter


@pytest.fixture
def opened(fake: FakeCheckpoint) -> keyfold.Checkpoint:
    writer = StateWriter(fake)
    for number in range(12):
        changes = dict.fromkeys(range(number * 5, number * 5 + 20), number)
        writer.batch(changes, snapshots=number == 5)
    return keyfold.open_checkpoint(fake.root)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_page_needs_nothing_else(opened: keyfold.Checkpoint, tmp_path: Path) -> None:
    target = tmp_path / "state.html"
    opened.report(target)
    page = target.read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(page)
    names = [tag for tag, _ in tags.found]
    assert names.count("svg") == 4
    assert not {"script", "link", "img", "iframe"} & set(names)
    assert all(
        (value or "").startswith("#")
        for _, attributes in tags.found
        for name, value in attributes.items()
        if name in {"href", "src", "xlink:href"}
    )
    for title in ("Summary", "Growth", "Spread", "Files", "Batches"):
        assert f'<h2 id="{title.lower()}">{title}</h2>' in page
    labels = [attributes["aria-label"] for tag, attributes in tags.found if tag == "svg"]
    assert len(set(labels)) == 4


def test_text_of_pictures_takes_the_colour_of_the_page(
    opened: keyfold.Checkpoint, tmp_path: Path
) -> None:
    opened.report(tmp_path / "state.html")
    page = (tmp_path / "state.html").read_text(encoding="utf-8")
    assert "currentColor" in page
    assert "color-scheme: light dark" in page
    assert not re.search(r"fill: ?(#000000|black)", page)


def test_notebook_shows_pictures_where_they_can_be_drawn(
    opened: keyfold.Checkpoint, monkeypatch: Any
) -> None:
    assert opened._repr_html_().count("<svg") == 4
    monkeypatch.setattr(figure, "import_module", _missing)
    assert "<svg" not in opened._repr_html_()
    assert "rows" in opened._repr_html_()


def test_report_says_what_it_needs(
    opened: keyfold.Checkpoint, monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr(figure, "import_module", _missing)
    with pytest.raises(ExtraMissingError, match=r"keyfold\[report\]"):
        opened.report(tmp_path / "state.html")


def test_query_that_has_not_begun(fake: FakeCheckpoint, tmp_path: Path) -> None:
    fake.start(0)
    keyfold.open_checkpoint(fake.root).report(tmp_path / "state.html")
    assert "none committed yet" in (tmp_path / "state.html").read_text(encoding="utf-8")


def test_progress_is_told(opened: keyfold.Checkpoint, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    opened.report(tmp_path / "state.html", progress=lambda done, of: told.append((done, of)))
    assert told[-1] == (12, 12)


def _missing(name: str) -> Any:
    raise ImportError(name)
