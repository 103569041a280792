"""A headless Chromium, and what is wrong with a page that it shows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

# A laptop's.
WIDTH, HEIGHT = 1280, 800

_ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip

_PROBLEMS = (Path(__file__).parent / "problems.js").read_text(encoding="utf-8")

Scheme = Literal["light", "dark"]


@contextmanager
def chromium() -> Iterator[Browser]:
    """The machine's own; the test is skipped without one, or fails where one was promised."""
    found = shutil.which("chromium")
    if found is None:
        reason = "no chromium on the path; on Debian: apt-get install chromium fonts-dejavu-core"
        if os.environ.get("KEYFOLD_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=_ARGUMENTS)
        yield browser
        browser.close()


class Shown:
    """A page that is open, with what it has asked for and complained of since it was opened."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda it: self.requests.append(it.url))
        page.on("console", lambda it: self.complaints.append(f"{it.type}: {it.text}"))
        page.on("pageerror", lambda it: self.complaints.append(f"error: {it}"))

    def problems(self, below: str = "body") -> list[str]:
        """What cannot be read in the elements that a selector finds, a line each."""
        found: list[str] = self.page.evaluate(_PROBLEMS, below)
        return found


@contextmanager
def shown(browser: Browser, file: Path, scheme: Scheme = "light") -> Iterator[Shown]:
    """A file on a laptop's screen without a network."""
    context = browser.new_context(
        viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme, offline=True
    )
    made = Shown(context.new_page())
    made.page.goto(file.as_uri())
    yield made
    context.close()
