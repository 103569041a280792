"""What a terminal shows."""

from __future__ import annotations

import pytest
from rich.console import Console

from keyfold.errors import StorageError
from keyfold.storage.storage import Storage
from keyfold.watch.screen import Screen
from keyfold.watch.watcher import Watcher
from kit.fake_checkpoint import FakeCheckpoint
from python.tests.watch.running import BEGAN, Running


def text(screen: Screen, now_ms: int, *, width: int = 80, height: int = 24) -> str:
    console = Console(width=width, height=height, color_system=None)
    with console.capture() as capture:
        console.print(screen.render(now_ms, height))
    return capture.get()


@pytest.fixture
def running(fake: FakeCheckpoint) -> Running:
    made = Running(fake)
    for number in range(12):
        made.batch(dict.fromkeys(range(number, number + 30), number))
    return made


def seen(fake: FakeCheckpoint) -> Screen:
    screen = Screen(2)
    screen.add(Watcher(Storage(fake.root)).look())
    return screen


def test_a_running_query(running: Running, fake: FakeCheckpoint) -> None:
    fake.start(12)
    shown = text(seen(fake), BEGAN + 13_000)
    assert "batch 11 was committed 1.3 s ago; batch 12 began 1.0 s ago" in shown
    assert "60.0 batches a minute, 1.0 s apart; 30 changes and" in shown
    (batch,) = [it.split() for it in shown.splitlines() if it.startswith("11 ")]
    assert batch[:6] == ["11", "22:13:31", "700", "ms", "600", "ms"]
    assert "0 stateStoreSave" in shown
    assert "hottest key groups, last 10 batches" in shown
    assert running.writer.batch_number == 11


@pytest.mark.parametrize(("height", "batches"), [(24, 6), (30, 10), (60, 10), (10, 1)])
def test_as_many_batches_as_there_is_room_for(
    running: Running, fake: FakeCheckpoint, height: int, batches: int
) -> None:
    shown = text(seen(fake), BEGAN + 13_000, height=height).splitlines()
    assert sum(it[:2].strip().isdigit() and "22:13" in it for it in shown) == batches
    assert len(shown) <= max(height, 19)
    assert max(map(len, shown)) <= 80
    assert running.writer.batch_number == 11


def test_a_query_that_has_stopped(running: Running, fake: FakeCheckpoint) -> None:
    assert "batch 11 was committed 3.2 h ago\n" in text(
        seen(fake), BEGAN + 11_700 + (3 * 60 + 12) * 60_000
    ).replace(" \n", "\n")
    assert running.writer.batch_number == 11


def test_a_query_that_has_not_begun(fake: FakeCheckpoint) -> None:
    assert "no batch is committed yet: waiting for the query" in text(seen(fake), BEGAN)
    fake.start(0)
    shown = text(seen(fake), BEGAN + 1500)
    assert "no batch is committed yet: batch 0 began 1.5 s ago" in shown


def test_an_error_beside_what_was_seen_before(running: Running, fake: FakeCheckpoint) -> None:
    screen = seen(fake)
    screen.add(StorageError("The server is \x1b[2J away."))
    shown = text(screen, BEGAN + 13_000)
    assert "[KEYFOLD_STORAGE] The server is \\u001b[2J away. Trying again every 2 s." in shown
    assert "0 stateStoreSave" in shown
    screen.add(Watcher(Storage(fake.root)).look())
    assert "KEYFOLD" not in text(screen, BEGAN + 13_000)
    assert running.writer.batch_number == 11


def test_an_error_before_anything_was_seen() -> None:
    screen = Screen(5)
    assert "looking" in text(screen, BEGAN)
    screen.add(StorageError("The server is away."))
    assert "The server is away. Trying again every 5 s." in text(screen, BEGAN)
