"""A checkpoint that is watched in a cell, in the kernel of a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel
from playwright.sync_api import Browser

from kit.browser import chromium, shown
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter

WAIT_S = 60


@pytest.fixture(scope="module")
def kernel() -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    manager, client = start_new_kernel(kernel_name="python3")
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


class Cell:
    """A cell that runs, and what is displayed in it."""

    def __init__(self, kernel: tuple[KernelManager, BlockingKernelClient], code: str) -> None:
        self.manager, self.client = kernel
        self.number = self.client.execute(code)
        self.outputs: dict[str, str] = {}

    def until(self, text: str) -> str:
        """Waits for an output with a text; returns its HTML."""
        while True:
            found = [it for it in self.outputs.values() if text in unescape(it)]
            if found:
                return found[0]
            self._receive()

    def end(self) -> dict[str, Any]:
        """The answer when it has ended."""
        reply = self.client.get_shell_msg(timeout=WAIT_S)
        content: dict[str, Any] = reply["content"]
        return content

    def _receive(self) -> None:
        message = self.client.get_iopub_msg(timeout=WAIT_S)
        if message["parent_header"].get("msg_id") != self.number:
            return
        content = message["content"]
        assert message["msg_type"] not in {"error", "stream"}, content
        if message["msg_type"] in {"display_data", "update_display_data"}:
            place = content["transient"]["display_id"]
            assert message["msg_type"] == "display_data" or place in self.outputs
            self.outputs[place] = content["data"]["text/html"]


def watched(path: Path, arguments: str = "interval=0.1") -> str:
    return f"import keyfold; keyfold.open_checkpoint({str(path)!r}).watch({arguments})"


def test_one_output_is_replaced_until_the_cell_is_stopped(
    kernel: Any, fake: FakeCheckpoint, tmp_path: Path
) -> None:
    cell = Cell(kernel, watched(fake.root))
    assert "<svg" not in cell.until("no batch is committed yet")
    writer = StateWriter(fake)
    writer.batch({it: it for it in range(20)})
    assert cell.until("batch 0 was committed").count("<svg") == 3
    writer.batch({it: it for it in range(30)})
    page = cell.until("batch 1 was committed")
    assert len(cell.outputs) == 1
    # What is away is told, and what was seen before stays.
    moved = fake.root.rename(tmp_path / "away")
    fake.root.write_text("not a folder")
    page = cell.until("Trying again every 0.1 s.")
    assert "batch 1 was committed" in page
    fake.root.unlink()
    moved.rename(fake.root)
    writer.batch({1: 1})
    cell.until("batch 2 was committed")
    cell.manager.interrupt_kernel()
    assert cell.end()["status"] == "ok"


def test_it_ends_after_some_seconds(kernel: Any, fake: FakeCheckpoint) -> None:
    StateWriter(fake).batch({1: 1})
    cell = Cell(kernel, watched(fake.root, "seconds=0"))
    assert cell.end()["status"] == "ok"
    cell.until("batch 0 was committed")


def test_without_matplotlib_there_are_tables(kernel: Any, fake: FakeCheckpoint) -> None:
    StateWriter(fake).batch({1: 1})
    hidden = "import sys; sys.modules['matplotlib.figure'] = None; "
    cell = Cell(kernel, hidden + watched(fake.root, "seconds=0"))
    assert "<svg" not in cell.until("0 stateStoreSave")
    assert cell.end()["status"] == "ok"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_on_a_laptop(
    kernel: Any, browser: Browser, fake: FakeCheckpoint, tmp_path: Path, scheme: Any
) -> None:
    writer = StateWriter(fake)
    for number in range(5):
        writer.batch({it: it for it in range(20 + number)})
    cell = Cell(kernel, "import sys; sys.modules.pop('matplotlib.figure', None)")
    cell.end()
    cell = Cell(kernel, watched(fake.root, "seconds=0"))
    page = tmp_path / "cell.html"
    page.write_text(f"<!doctype html><meta charset='utf-8'>{cell.until('0 stateStoreSave')}")
    cell.end()
    with shown(browser, page, scheme) as it:
        assert it.problems() == []
        assert it.page.locator("svg[role=img]").count() == 3
