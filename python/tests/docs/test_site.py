"""The site builds without a warning, has all of the public API, and needs no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import keyfold
from keyfold.cli.main import cli
from kit.browser import chromium, shown

ROOT = Path(__file__).parents[3]
PAGES = [
    "index", "tutorial", "watch", "configuration", "doctor", "errors", "api", "cli", "DESIGN",
    "design/faults",
]  # fmt: skip


def build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "-f", str(config), "-d", str(site)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, capture_output=True, check=False, text=True, env=environment)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("site")
    done = build(ROOT / "mkdocs.yml", made)
    assert done.returncode == 0, done.stderr
    return made


class Ids(HTMLParser):
    """The anchors of a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        self.found |= {value for name, value in attrs if name == "id" and value}


def test_all_of_the_public_api_is_there(site: Path) -> None:
    names = {f"keyfold.{it}" for it in keyfold.__all__ if it != "__version__"}
    anchors = Ids(site / "api.html").found
    assert names <= anchors
    assert {"keyfold.Checkpoint.rollback", "keyfold.errors.StorageError"} <= anchors


def test_all_commands_are_there(site: Path) -> None:
    assert {f"keyfold-{it}" for it in cli.commands} <= Ids(site / "cli.html").found


def test_a_source_file_that_is_linked_to_is_there(site: Path) -> None:
    suite = "source/jvm/core/src/test/scala/io/keyfold/store/FaultSuite.scala.html"
    assert f'href="../{suite}"' in (site / "design/faults.html").read_text(encoding="utf-8")
    assert "class" in (site / suite).read_text(encoding="utf-8")


def test_links_that_lead_nowhere_fail_the_build(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for it in ROOT.iterdir():
        if it.name not in {"docs", ".git"}:
            (tmp_path / it.name).symlink_to(it)
    (tmp_path / "mkdocs.yml").unlink()
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    with (tmp_path / "docs" / "soak.md").open("a", encoding="utf-8") as page:
        page.write("\n[1](nowhere.md) [2](errors.md#nowhere) [3](../jvm/Nowhere.scala)\n")
    done = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert done.returncode != 0
    for link in ("docs/nowhere.md", "#nowhere", "jvm/Nowhere.scala"):
        assert any("WARNING" in it and link in it for it in done.stderr.splitlines()), link


@pytest.fixture(scope="module")
def browser(site: Path) -> Iterator[Browser]:
    del site
    with chromium() as found:
        yield found


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_read_on_a_laptop(site: Path, browser: Browser, name: str) -> None:
    with shown(browser, site / f"{name}.html") as it:
        assert it.problems("article") == []
        assert it.complaints == []
        assert [url for url in it.requests if not url.startswith("file:")] == []


def test_the_search_finds_pages_from_a_disk(site: Path, browser: Browser) -> None:
    with shown(browser, site / "design/faults.html") as it:
        it.page.get_by_placeholder("Search").click()
        it.page.keyboard.type("savepoint")
        found = it.page.locator(".md-search-result__item", has_text="keyfold savepoint")
        found.first.wait_for()
        assert it.complaints == []
        assert [url for url in it.requests if not url.startswith("file:")] == []
