"""Driver processes: listened to, failing, frozen and killed together with their children."""

import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from demo.driver import Driver
from demo.errors import DemoError

TALKS_THEN_SLEEPS_WITH_A_CHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print('not an event')
print('{"kind": "note", "text": "%d"}' % child.pid, flush=True)
time.sleep(600)
"""


def module(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> str:
    (folder / "driver_under_test.py").write_text(code, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return "driver_under_test"


def alive(process: str) -> bool:
    arguments = ["ps", "-o", "stat=", "-p", process]
    state = subprocess.run(arguments, capture_output=True, text=True, check=False)
    return state.stdout.strip()[:1] not in {"", "Z"}


def test_a_kill_takes_the_child_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = module(tmp_path, monkeypatch, TALKS_THEN_SLEEPS_WITH_A_CHILD)
    with closing(Driver(name, [], tmp_path / "log")) as driver:
        child = next(driver.events())["text"]
        driver.freeze()
        driver.close()
    # The pipe is closed a moment before the process is gone; then nobody may have reaped it yet.
    deadline = time.monotonic() + 10
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(child)


def test_a_failure_is_told_with_the_end_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = module(tmp_path, monkeypatch, "import sys; sys.exit('no such store')")
    with (
        closing(Driver(name, [], tmp_path / "log")) as driver,
        pytest.raises(DemoError, match=r"ended with code 1(.|\n)*no such store"),
    ):
        list(driver.events())


def test_an_end_without_fault_ends_the_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = module(tmp_path, monkeypatch, 'print(\'{"kind": "note"}\')')
    with closing(Driver(name, [], tmp_path / "log")) as driver:
        assert list(driver.events()) == [{"kind": "note"}]
