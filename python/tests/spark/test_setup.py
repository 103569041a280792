"""The check of a set-up, in a classic session and through Spark Connect."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

import keyfold
from keyfold.errors import InvalidArgumentError
from keyfold.settings import FILE_MANAGER_KEY, FORMAT_KEY, MEMORY_KEY, PROVIDER_KEY
from keyfold.setup import facts
from kit.session import NEEDS_JAR

pytestmark = NEEDS_JAR

_STREAMING = "org.apache.spark.sql.execution.streaming"


@contextmanager
def setting(session: Any, key: str, value: str) -> Iterator[None]:
    before = session.conf.get(key, None)
    session.conf.set(key, value)
    yield
    if before is None:
        session.conf.unset(key)
    else:
        session.conf.set(key, before)


def wrong(report: keyfold.SetupReport) -> list[str]:
    return [it.name for it in report.findings if not it.ok]


def test_a_right_set_up_is_right(either: Any) -> None:
    found = keyfold.check(either)
    assert wrong(found) == []
    assert found.ok
    assert {it.name for it in found.findings} == {
        "provider", "checkpoint format", "file manager", "jar on the driver", "extension",
        "settings", "executors", "jar on executors", "memory", "local disk",
    }  # fmt: skip
    [it] = found.executors
    assert it.id == "driver"
    assert str(found).endswith("\nKeyfold is set up rightly.")


@pytest.mark.parametrize(
    ("key", "value", "name"),
    [
        (PROVIDER_KEY, f"{_STREAMING}.state.HDFSBackedStateStoreProvider", "provider"),
        (FORMAT_KEY, "1", "checkpoint format"),
        (FILE_MANAGER_KEY, f"{_STREAMING}.FileContextBasedCheckpointFileManager", "file manager"),
        (MEMORY_KEY, "100t", "memory"),
        (MEMORY_KEY, "plenty", "settings"),
        (f"{MEMORY_KEY}PerTask", "PerTask", "settings"),
    ],
)
def test_a_setting_that_is_wrong_is_found(either: Any, key: str, value: str, name: str) -> None:
    with setting(either, key, value):
        found = keyfold.check(either)
    assert wrong(found) == [name]
    [it] = [it for it in found.findings if it.name == name]
    assert value.rpartition(".")[2] in it.value or name == "memory"


def test_cores_that_other_work_holds_are_not_waited_for(
    either: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hold(batches: Iterator[Any]) -> Iterator[Any]:
        time.sleep(8)
        yield from batches

    monkeypatch.setattr(facts, "_WAIT_S", 4)
    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(either.range(0, 8, 1, 8).mapInArrow(hold, "id long").collect)
        time.sleep(3)
        found = keyfold.check(either)
        assert not held.done()
    assert wrong(found) == ["executors"]


def test_what_is_no_session_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="Invalid session str"):
        keyfold.check("local[2]")  # type: ignore[arg-type]
