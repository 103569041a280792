"""Options of spark-submit, told from the program that they would start, and from a server."""

from __future__ import annotations

import os
from typing import Any

import pytest

from keyfold import _jvm
from keyfold._jvm import session_as_submitted
from keyfold.errors import InvalidArgumentError

ARGUMENTS, REMOTE = "PYSPARK_SUBMIT_ARGS", "SPARK_REMOTE"
SERVER = "sc://host:15002"


class Session:
    """Stands for Spark, with the variables with which it was started."""

    def __init__(self, _: Any) -> None:
        self.variables = dict(os.environ)

    def stop(self) -> None:
        pass


@pytest.fixture(autouse=True)
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_jvm, "new_session", Session)
    # So that it is as before afterwards.
    monkeypatch.setenv(ARGUMENTS, "pyspark-shell")


def started(*options: str) -> dict[str, str]:
    """The variables with which Spark is started."""
    with session_as_submitted(options, None) as session:
        found: dict[str, str] = session.variables  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["query.py"], "query.py"),
        (["--master", "yarn", "query.py", "--to", "delta"], "query.py"),
        (["--conf=a=b", "--verbose", "app.jar"], "app.jar"),
        (["--class", "A", "-v", "app.jar", "x"], "app.jar"),
        (["--load-spark-defaults", "query.py"], "query.py"),
    ],
)
def test_a_program_is_refused_and_not_started(options: list[str], word: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"'{word}' is no option of spark-submit"):
        session_as_submitted(options, None).__enter__()


def test_sparks_own_defaults_can_be_read_beside_a_file() -> None:
    options = ("--load-spark-defaults", "--properties-file", "a.conf")
    assert started(*options)[ARGUMENTS] == " ".join([*options, "pyspark-shell"])


def test_options_start_a_spark_of_their_own_where_a_server_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(REMOTE, SERVER)
    assert REMOTE not in started("--master", "yarn")
    assert os.environ[REMOTE] == started()[REMOTE] == SERVER


def test_options_and_a_server_are_refused_together() -> None:
    with pytest.raises(InvalidArgumentError, match="not both"):
        session_as_submitted(["--master", "yarn"], SERVER).__enter__()
