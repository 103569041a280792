"""The page in a real browser: it asks for nothing, and all of it can be read on a laptop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import keyfold
from kit.browser import HEIGHT, Scheme, chromium, shown
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter

SCHEMES: tuple[Scheme, Scheme] = ("light", "dark")
TITLES = ["Summary", "Growth", "Spread", "Keys", "Files", "Batches"]
JOIN = ("left-keyToNumValues", "left-keyWithIndexToValue", "right-keyToNumValues")


def small(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake)
    for number in range(12):
        changes = dict.fromkeys(range(number * 5, number * 5 + 20), number)
        writer.batch(changes, snapshots=number == 5)


def empty(fake: FakeCheckpoint) -> None:
    StateWriter(fake).batch({})


def wide(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake, partitions=48, groups=480)
    for number in range(30):
        changes = dict.fromkeys(range(number * 20, number * 20 + 60), number)
        writer.batch(changes, snapshots=number % 10 == 9)


def several_and_damaged(fake: FakeCheckpoint) -> None:
    """Two operators, of which one has no file that it could be loaded from."""
    small(fake)
    fake.operator(1, "symmetricHashJoin", JOIN)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def report(fake: FakeCheckpoint, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    made: Callable[[FakeCheckpoint], None] = getattr(request, "param", small)
    made(fake)
    keyfold.open_checkpoint(fake.root).report(tmp_path / "state.html")
    return tmp_path / "state.html"


@pytest.mark.parametrize(
    ("report", "pictures"),
    [(small, 4), (empty, 4), (wide, 4), (several_and_damaged, 2)],
    indirect=["report"],
)
def test_can_be_read_on_a_laptop(browser: Browser, report: Path, pictures: int) -> None:
    for scheme in SCHEMES:
        with shown(browser, report, scheme) as it:
            assert it.problems() == []
            assert it.page.locator("h2").all_inner_texts() == TITLES
            assert it.page.locator("svg[role=img]").count() == pictures


def test_dark_and_light_differ(browser: Browser, report: Path) -> None:
    inks = set()
    for scheme in SCHEMES:
        with shown(browser, report, scheme) as it:
            inks.add(it.page.locator("svg text").first.evaluate("it => getComputedStyle(it).fill"))
    assert len(inks) == 2


def test_asks_for_nothing_and_complains_of_nothing(browser: Browser, report: Path) -> None:
    with shown(browser, report) as it:
        assert it.requests == [report.as_uri()]
        assert it.complaints == []


def test_links_lead_to_their_sections(browser: Browser, report: Path) -> None:
    with shown(browser, report) as it:
        for title in TITLES:
            it.page.get_by_role("link", name=title, exact=True).click()
            heading = it.page.get_by_role("heading", name=title, exact=True)
            assert it.page.evaluate("location.hash") == f"#{title.lower()}"
            box = heading.bounding_box()
            assert box is not None
            assert -1 < box["y"] < HEIGHT
            assert it.page.evaluate("document.querySelector(':target').textContent") == title


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("<div style='width:2000px'>a</div>", "the page is 2000 wide, the window 1280"),
        ("<table><tr><td style='max-width:9px;overflow:hidden'>aaaaa</td></tr></table>", "is cut"),
        ("<table><tr><td style='color:#eee'>aaaaaaa</td></tr></table>", "too pale"),
        ("<table><tr><td>a</td><td style='position:relative;left:-9px'></td></tr></table>", "over"),
        ("<svg role=img viewBox='0 0 9 9' width=50 height=50><text>a</text></svg>", "only 50 x 50"),
        ("<svg role=img width=500 height=200><text y=50>a</text><text y=50>b</text></svg>", "over"),
        ("<svg role=img width=500 height=200><text y=50 x=495>aaaaaa</text></svg>", "is cut off"),
        ("<svg role=img width=500 height=200><text y=9 font-size=5>a</text></svg>", "small"),
        ("<svg role=img width=500 height=200></svg>", "without words"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_found(
    browser: Browser, tmp_path: Path, content: str, problem: str
) -> None:
    page = tmp_path / "bad.html"
    page.write_text(f"<!doctype html><body style='margin:0'>{content}", encoding="utf-8")
    with shown(browser, page) as it:
        assert any(problem in line for line in it.problems())
