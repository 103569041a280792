"""What the check makes of a session that answers only in part; its answers are given."""

from __future__ import annotations

import json
from threading import Event
from typing import Any

import pytest
from pyspark.errors import AnalysisException

import keyfold
from keyfold.settings import INSTANCES_KEY, QUERY_SETTINGS
from keyfold.setup import facts

# As an executor of a cluster is started.
COMMAND = "org.apache.spark.executor.CoarseGrainedExecutorBackend --executor-id {} --hostname host"
DISK = {"path": "/data", "free": 1 << 30, "kind": "ext4"}
SIZES = {"budget": 1, "heap": 1, "beside_heap": 1, "machine": 9}
MEMORY = {"memory": SIZES, "folders": [DISK]}
Row = tuple[str | None, ...]


class Rows:
    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows

    def selectExpr(self, *_: str) -> Rows:  # noqa: N802 - PySpark's name
        return self

    def collect(self) -> list[Row]:
        return self._rows


class SparkSession:
    """A session of Spark Connect, by its name. In each round of tasks one executor answers."""

    __module__ = "pyspark.sql.connect.session"
    version = "4.2.1"

    def __init__(self, executors: list[str], rounds: list[list[Row]], **conf: str) -> None:
        self.conf = {**QUERY_SETTINGS, **conf}
        self._executors = executors
        self._rounds = rounds
        self.jar = ("4.2", "0.1.0")
        self.renamed: dict[str, str] = {}
        self.later: list[str] = []
        self.busy = False
        self.is_late = Event()

    def sql(self, text: str) -> Rows:
        if "classIsLoadable" in text:
            return Rows([("true",)])
        if "ofDriver" in text:
            said = {"extension": True, "executors": self._executors}
            self._executors = self.later or self._executors
            renamed = {self.renamed.get(it, it): value for it, value in said.items()}
            return Rows([(json.dumps(renamed),)])
        return Rows([self.jar])

    def addTag(self, _: str) -> None:  # noqa: N802 - PySpark's name
        self.is_late = Event()

    removeTag = addTag  # noqa: N815

    def interruptTag(self, _: str) -> None:  # noqa: N802
        self.is_late.set()

    def range(self, *_: int) -> Rows:
        if self.busy and len(self._rounds) == 1:
            assert self.is_late.wait(10)
            raise AnalysisException("job cancelled")
        return Rows(self._rounds.pop(0) if len(self._rounds) > 1 else self._rounds[0])


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "_WAIT_S", 1)
    monkeypatch.setattr(facts, "_PAUSE_S", 0.01)
    monkeypatch.setattr(facts, "_SETTLED_S", 0.05)


def row(number: str, answer: dict[str, Any] | None = MEMORY, version: str = "0.1.0") -> Row:
    said = None if answer is None else json.dumps({"id": number, "host": "host", **answer})
    return COMMAND.format(number), "4.2", version, said


def wrong(session: SparkSession) -> dict[str, str]:
    found = keyfold.check(session)  # type: ignore[arg-type]
    return {it.name: it.value for it in found.findings if not it.ok}


def test_those_who_have_not_answered_are_asked_again() -> None:
    found = SparkSession(["0", "1"], [[row("0")], [row("0"), row("0")], [row("1")]])
    assert wrong(found) == {}


def test_who_never_answers_is_named() -> None:
    found = SparkSession(["0", "1", "10", "9"], [[row("0")]])
    assert wrong(found) == {"executors": "1 of 4 executors answered, not 1, 9, 10"}


def test_who_says_nothing_of_itself_does_not_count() -> None:
    found = SparkSession(["0", "1"], [[row("0"), row("1", None)]])
    assert wrong(found) == {"executors": "1 of 2 executors answered, not 1"}


@pytest.mark.parametrize("executors", [[], ["0"]])
def test_fewer_executors_than_the_session_asks_for(executors: list[str]) -> None:
    rows = [[row(it) for it in executors]]
    conf = {INSTANCES_KEY: "2", "spark.master": "yarn"}
    [value] = wrong(SparkSession(executors, rows, **conf)).values()
    number = f"{len(executors)} of {len(executors)} executor{'' if executors else 's'}"
    assert value == f"{number} answered; the session asks for 2"


@pytest.mark.parametrize("master", ["local[4]", "spark://host:7077"])
def test_only_some_cluster_managers_go_by_the_number_that_is_asked_for(master: str) -> None:
    conf = {INSTANCES_KEY: "2", "spark.master": master}
    assert wrong(SparkSession(["0"], [[row("0")]], **conf)) == {}


def test_executors_that_register_late_are_asked_too() -> None:
    found = SparkSession(["0"], [[row("0")], [row("0"), row("1", None)]])
    found.later = ["0", "1"]
    assert wrong(found) == {"executors": "1 of 2 executors answered, not 1"}


def test_cores_that_others_hold_are_not_waited_for() -> None:
    found = SparkSession(["0", "1"], [[row("0")], []])
    found.busy = True
    assert wrong(found) == {"executors": "1 of 2 executors answered, not 1"}


def test_where_executors_come_and_go_any_number_is_right() -> None:
    conf = {INSTANCES_KEY: "2", "spark.dynamicAllocation.enabled": "true"}
    assert wrong(SparkSession(["0"], [[row("0")]], **conf)) == {}


@pytest.mark.parametrize(
    "answer",
    [
        MEMORY,
        {"budget": 1, "heap": 1, "memory": 9, "folders": []},
        {"memory": {**SIZES, "later": 1}, "folders": [DISK]},
        {"memory": SIZES, "folders": [{**DISK, "later": 1}]},
        {},
    ],
)
def test_an_executor_with_another_release_is_named(answer: dict[str, Any]) -> None:
    """Also if it says other things of itself than those of this release."""
    found = SparkSession(["0", "1"], [[row("0"), row("1", answer, "0.0.9")]])
    assert wrong(found) == {"jar on executors": "executor 1 on host: Keyfold 0.0.9 for Spark 4.2"}


@pytest.mark.parametrize("name", ["extension", "executors"])
def test_a_driver_with_a_jar_that_says_other_things_is_told_to_take_ours(name: str) -> None:
    found = SparkSession(["0"], [[row("0")]])
    found.renamed = {name: "later"}
    assert wrong(found) == {
        "jar on the driver": "Keyfold 0.1.0 for Spark 4.2, of another build than this package"
    }


def test_an_executor_without_the_class_is_known_by_its_command_line() -> None:
    nothing: Row = (COMMAND.format("7"), None, None, None)
    assert wrong(SparkSession(["7"], [[nothing]])) == {
        "jar on executors": "executor 7 on host: none"
    }


@pytest.mark.parametrize(("line", "names"), [("4.2", []), ("4.1", ["lost settings"])])
def test_lost_jars_are_named_first_if_the_driver_has_not_the_right_one(
    monkeypatch: pytest.MonkeyPatch, line: str, names: list[str]
) -> None:
    monkeypatch.setenv("SPARK_LOCAL_REMOTE", "1")
    monkeypatch.setenv("PYSPARK_REMOTE_INIT_CONF_LEN", "1")
    monkeypatch.setenv("PYSPARK_REMOTE_INIT_CONF_0", '{"spark.jars": "a.jar"}')
    found = SparkSession(["0"], [[row("0")]])
    found.jar = (line, "0.1.0")
    assert list(wrong(found))[:1] == names


def test_lost_settings_are_named_if_the_driver_does_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise AnalysisException("no reflect")

    monkeypatch.setenv("PYSPARK_REMOTE_INIT_CONF_LEN", "1")
    monkeypatch.setenv("PYSPARK_REMOTE_INIT_CONF_0", '{"spark.sql.extensions": "a"}')
    monkeypatch.setattr(SparkSession, "sql", refuse)
    assert list(wrong(SparkSession([], [[]]))) == ["lost settings", "access"]


def test_spark_that_runs_no_such_query_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AnalysisException("[UNRESOLVED_ROUTINE] no reflect\nat line 1")

    monkeypatch.setattr(SparkSession, "sql", refuse)
    found = wrong(SparkSession([], [[]]))
    assert list(found) == ["access"]
    assert found["access"].endswith("[UNRESOLVED_ROUTINE] no reflect")
