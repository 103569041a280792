"""The command: lines for pipes, a screen for terminals, and how it ends."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path
from threading import Event, Thread
from typing import IO, Any

import pytest
from click.testing import CliRunner, Result

import keyfold
from keyfold.cli.command import ExitCode
from keyfold.cli.main import cli
from keyfold.errors import InvalidArgumentError, StorageError
from keyfold.storage.storage import Storage
from keyfold.watch import loop
from keyfold.watch.look import Look
from keyfold.watch.watch import watch
from keyfold.watch.watcher import Watcher
from kit.fake_checkpoint import QUERY, FakeCheckpoint
from python.tests.watch.running import BEGAN, Running

WAIT_S = 60


@pytest.fixture
def running(fake: FakeCheckpoint) -> Running:
    made = Running(fake)
    for number in range(3):
        made.batch(dict.fromkeys(range(number, number + 10), number))
    return made


def once(*arguments: str, code: int = ExitCode.DONE) -> Result:
    result = CliRunner().invoke(cli, ["watch", *arguments, "--seconds", "0"])
    assert result.exit_code == code, (result.output, result.exception)
    return result


RUN = "from keyfold.cli.main import cli; cli()"
# Its reads do not end, in threads for which Python waits at its end.
HANGING = f"""
import sys, time
from keyfold.state.walk import Walk
def part(*_):
    print("asleep", file=sys.stderr, flush=True)
    time.sleep(600)
Walk._part = part
{RUN}
"""


@contextmanager
def started(
    path: Path, code: str = RUN, *more: str, **how: Any
) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", code, "watch", str(path), "--interval", "0.1", *more]
    with subprocess.Popen(command, **how) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_line_for_each_batch(running: Running, fake: FakeCheckpoint) -> None:
    found = once(str(fake.root))
    assert [it.split(",")[0] for it in found.stdout.splitlines()] == [
        "batch 0",
        "batch 1",
        "batch 2",
    ]
    assert (
        "batch 2, began 2023-11-14 22:13:22 UTC, took 700 ms, commit 600 ms, changes 10, written "
        in found.stdout
    )
    assert re.search(r"batch 2 was committed [\d.]+ days ago", found.stderr)
    assert running.writer.batch_number == 2


def test_an_object_for_each_batch(running: Running, fake: FakeCheckpoint) -> None:
    *_, last = map(json.loads, once(str(fake.root), "-o", "json").stdout.splitlines())
    assert (last["query_id"], last["batch_id"], last["started_ms"]) == (QUERY, 2, BEGAN + 2000)
    assert (last["duration_ms"], last["commit_ms"], last["interval_ms"]) == (700, 600, 1000)
    assert (last["changes"], last["rows"], last["live_bytes"]) == (10, 12, 12 * 32)
    assert last["operators"][0]["name"] == "stateStoreSave"
    assert last["hottest"][0]["changes"] > 0
    assert running.writer.batch_number == 2


def test_what_is_not_there_yet(tmp_path: Path, fake: FakeCheckpoint) -> None:
    assert "there is no checkpoint yet: waiting" in once(str(tmp_path / "later")).stderr
    found = once(str(fake.root))
    assert (found.stdout, found.stderr) == (
        "",
        "no batch is committed yet: waiting for the query\n",
    )


def test_what_is_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "file").touch()
    assert "KEYFOLD_NOT_A_CHECKPOINT" in once(str(tmp_path), code=ExitCode.FAILED).stderr
    once(str(tmp_path), "--interval", "0", code=ExitCode.USAGE)


def test_times_that_are_none(fake: FakeCheckpoint) -> None:
    opened = keyfold.open_checkpoint(fake.root)
    with pytest.raises(InvalidArgumentError, match="interval 0"):
        opened.watch(interval=0)
    with pytest.raises(InvalidArgumentError, match="seconds -1"):
        opened.watch(seconds=-1)


def test_python_prints_the_same(
    running: Running, fake: FakeCheckpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    keyfold.open_checkpoint(fake.root).watch(seconds=0)
    assert capsys.readouterr().out == once(str(fake.root)).stdout
    assert running.writer.batch_number == 2


def test_an_error_is_told_once_and_the_query_watched_on(
    running: Running,
    fake: FakeCheckpoint,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    look, looks = Watcher.look, iter(range(100))

    def failing(self: Watcher) -> Any:
        number = next(looks)
        if number in {2, 3}:
            raise StorageError("The server is away.")
        if number == 4:
            running.batch({77: 7})
        return look(self)

    monkeypatch.setattr(Watcher, "look", failing)
    keyfold.open_checkpoint(fake.root).watch(interval=0.01, seconds=0.3)
    told = capsys.readouterr()
    assert [it.split(",")[0] for it in told.out.splitlines()] == [f"batch {it}" for it in range(4)]
    assert told.err.count("The server is away. Trying again every 0.01 s.") == 1
    assert next(looks) > 5


def test_a_rollback_is_told_and_what_runs_again_is_printed_again(
    running: Running, fake: FakeCheckpoint
) -> None:
    with started(fake.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert [batch(process.stdout) for _ in range(3)] == [0, 1, 2]
        running.back_to(0)
        # Whose commits appear with the time that they keep.
        for number in range(2):
            running.writer.batch({number: 5})
        assert [batch(process.stdout) for _ in range(2)] == [1, 2]
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_S) == ExitCode.DONE
        assert process.stderr is not None
        told = process.stderr.read().decode()
        assert "rolled back from batch 2 to batch" in told
        assert "Traceback" not in told


def batch(lines: IO[bytes] | None) -> int:
    assert lines is not None
    return int(lines.readline().split(b",")[0].split()[1])


def test_a_reader_that_has_enough_ends_it(running: Running, fake: FakeCheckpoint) -> None:
    with started(fake.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert batch(process.stdout) == 0
        assert process.stdout is not None
        process.stdout.close()
        running.writer.batch({1: 1})
        assert process.wait(WAIT_S) == ExitCode.DONE
        assert process.stderr is not None
        assert b"BrokenPipe" not in process.stderr.read()


def test_a_storage_that_does_not_answer_does_not_hold_up_its_end(
    running: Running, fake: FakeCheckpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, asked = Event(), Event()

    def look(_: Watcher) -> Look:
        asked.set()
        assert answers.wait(WAIT_S)
        return Look("")

    def interrupt() -> None:
        assert asked.wait(WAIT_S)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Watcher, "look", look)
    interrupter = Thread(target=interrupt)
    interrupter.start()
    looks = watch(Storage(fake.root))
    assert looks.is_looking
    interrupter.join()
    answers.set()
    assert running.writer.batch_number == 2


def test_neither_does_one_whose_threads_would_be_waited_for(
    running: Running, fake: FakeCheckpoint
) -> None:
    # Two stores that are read side by side.
    fake.operator(stores=("default", "other"))
    with started(fake.root, HANGING, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"asleep\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_S) == ExitCode.DONE
    assert running.writer.batch_number == 2


def test_seconds_end_a_look_that_does_not(
    running: Running, fake: FakeCheckpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, asked, look = Event(), [], Watcher.look

    def hanging(self: Watcher) -> Look:
        asked.append(self)
        if len(asked) > 1:
            assert answers.wait(WAIT_S)
        return look(self)

    monkeypatch.setattr(Watcher, "look", hanging)
    begun = time.monotonic()
    looks = watch(Storage(fake.root), interval=0.1, seconds=0.5)
    assert time.monotonic() - begun < WAIT_S / 2
    assert (looks.is_looking, looks.is_late, looks.has_seen) == (True, True, True)
    monkeypatch.setattr(loop, "_FIRST_LOOK_S", 0.3)
    looks = watch(Storage(fake.root), seconds=0.1)
    assert (looks.is_looking, looks.is_late, looks.has_seen) == (True, True, False)
    answers.set()
    assert running.writer.batch_number == 2


def test_that_nothing_answered_is_a_failure(running: Running, fake: FakeCheckpoint) -> None:
    fake.operator(stores=("default", "other"))
    code = HANGING.replace("import sys, time", "import sys, time; from keyfold.watch import loop")
    code = code.replace("cli()", "loop._FIRST_LOOK_S = 1; cli()")
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(fake.root, code, "--seconds", "0.5", **how) as process:
        assert process.wait(WAIT_S) == ExitCode.FAILED
        assert process.stderr is not None
        assert b"has not answered for 1 s." in process.stderr.read()
    assert running.writer.batch_number == 2


def test_batches_that_were_deleted_between_two_looks_are_told(
    running: Running,
    fake: FakeCheckpoint,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    look, looks = Watcher.look, iter(range(100))

    def meanwhile(self: Watcher) -> Look:
        if next(looks) == 1:
            for number in range(4):
                running.batch({number: 7})
            # As retention that is faster than the looks.
            for log in ("commits", "offsets"):
                for number in range(6):
                    (fake.root / log / str(number)).unlink()
        return look(self)

    monkeypatch.setattr(Watcher, "look", meanwhile)
    keyfold.open_checkpoint(fake.root).watch(interval=0.05, seconds=0.3)
    told = capsys.readouterr()
    assert [it.split(",")[0] for it in told.out.splitlines()] == [
        f"batch {it}" for it in (0, 1, 2, 6)
    ]
    assert told.err.count("Batches 3 to 5 were gone before the next look") == 1


class Terminal:
    """A terminal of 100 columns and 30 lines."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.shown = ""

    def until(self, text: str) -> None:
        end = time.monotonic() + WAIT_S
        while text not in self.shown:
            assert time.monotonic() < end, self.shown
            if select.select([self.master], [], [], 0.2)[0]:
                self.shown += os.read(self.master, 65536).decode()


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal()
    yield made
    os.close(made.master)
    os.close(made.slave)


def test_a_terminal_is_drawn_on_until_control_c_and_then_as_before(
    running: Running, fake: FakeCheckpoint, terminal: Terminal
) -> None:
    before = termios.tcgetattr(terminal.slave)
    how = {
        "stdin": terminal.slave,
        "stdout": terminal.slave,
        "stderr": terminal.slave,
        "start_new_session": True,
        "env": os.environ | {"TERM": "xterm-256color"},
        # The terminal's own, so that its Ctrl-C is a signal.
        "preexec_fn": lambda: ioctl(0, termios.TIOCSCTTY, 0),
    }
    with started(fake.root, **how) as process:
        terminal.until("batch 2 was committed")
        running.writer.batch({1: 1})
        terminal.until("batch 3 was committed")
        assert "\x1b[?25l" in terminal.shown
        assert "\x1b[?25h" not in terminal.shown
        os.write(terminal.master, b"\x03")
        terminal.until("\x1b[?25h")
        assert process.wait(WAIT_S) == ExitCode.DONE
    assert termios.tcgetattr(terminal.slave) == before
    assert "Traceback" not in terminal.shown
    assert "Aborted" not in terminal.shown
