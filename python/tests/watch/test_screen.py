"""What a terminal shows."""

from __future__ import annotations

import re

import numpy as np
import pytest
from rich.console import Console

from keyfold.errors import StorageError
from keyfold.storage.storage import Storage
from keyfold.watch.batch import OperatorAfter, WatchedBatch
from keyfold.watch.look import Look, OperatorNow, PartitionNow
from keyfold.watch.screen import Screen
from keyfold.watch.watcher import Watcher
from kit.fake_checkpoint import FakeCheckpoint
from python.tests.watch.running import BEGAN, Running


def text(screen: Screen, now_ms: int, *, width: int = 80, height: int = 24) -> str:
    console = Console(width=width, height=height, color_system=None)
    with console.capture() as capture:
        console.print(screen.render(now_ms, width, height))
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


@pytest.mark.parametrize("width", [40, 56, 72, 80, 120])
def test_a_narrow_terminal_leaves_out_columns_and_cuts_no_number(width: int) -> None:
    operators = tuple(
        OperatorAfter(it, name, 200, 1_234_567, 1_234_567_890, 7_654_321)
        for it, name in enumerate(["stateStoreSave", "transformWithStateInPandasExec"])
    )
    batches = [
        WatchedBatch(
            123_456 + it, BEGAN, BEGAN, BEGAN, BEGAN + 700, 1000, 200, 123_456_789, operators, ()
        )
        for it in range(3)
    ]
    groups = np.array([[0, 199, 5039, 7_654_321, 123_456_789]] * 3).T
    look = Look(
        "/data",
        "id",
        tuple(batches),
        operators=tuple(
            OperatorNow(it.id, it.name, 200, 1_234_567, 1_234_567_890, 12_345_678_901, 1000)
            for it in operators
        ),
        partitions=tuple(PartitionNow(0, it, 1_234_567, 1_234_567_890) for it in range(199)),
        groups=groups,
        hot_batches=10,
    )
    screen = Screen(2)
    screen.add(look)
    shown = text(screen, BEGAN, width=width, height=40)
    assert max(map(len, shown.splitlines())) <= width
    # Of whole columns, no number is part of one.
    whole = {"1,234,567", "2,469,134", "7,654,321", "15,308,642", "1,000"}
    assert set(re.findall(r"\d{1,3}(?:,\d+)+,?", shown)) <= whole
    assert "123458" in shown
    assert "2,469,134" in shown
    # But the title beside the heaviest partitions.
    assert not [it for it in shown.splitlines() if "\u2026" in it and "heaviest" not in it]
    if width == 120:
        assert "snapshot age" in shown
        assert "commit" in shown
    if width == 40:
        assert "hottest key grou\u2026" in shown
    if width >= 72:
        assert "hottest key groups, last 10 batches" in shown


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
