"""Queries that Spark ends by no fault of theirs are started again, others are not."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

from demo.again import SLOW_WORKER, STARTS, UNREPORTED, run


class Query:
    """One that fails as it is told; "" is its end."""

    def __init__(self, name: str, said: str) -> None:
        self.name, self._said = name, said

    def awaitTermination(self) -> None:  # noqa: N802 - Spark's name
        if self._said:
            error = StreamingQueryException("it has failed")
            error._stackTrace = self._said  # type: ignore[attr-defined]
            raise error


class Starts:
    """Starts queries, each of which fails as is said of it from start to start."""

    def __init__(self, **failures: list[str]) -> None:
        self._failures = failures
        self.started: list[list[str]] = []

    def __call__(self, queries: Iterable[str]) -> list[Any]:
        self.started.append(list(queries))
        return [Query(it, self._failures[it].pop(0)) for it in self.started[-1]]


KAFKA = f"at org.apache.spark.sql.kafka010.{UNREPORTED}(KafkaMicroBatchStream.scala:520)"


def test_only_queries_that_failed_so_are_started_again(capsys: pytest.CaptureFixture[str]) -> None:
    start = Starts(a=[KAFKA, ""], b=[""], c=[SLOW_WORKER, KAFKA, ""])
    run(start, ["a", "b", "c"])
    assert start.started == [["a", "b", "c"], ["a", "c"], ["c"]]
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(it["kind"], it.get("query")) for it in told] == [
        ("unreported", "a"),
        ("note", None),
        ("unreported", "c"),
    ]


def test_any_other_failure_ends_the_run() -> None:
    start = Starts(a=["java.lang.NullPointerException", ""])
    with pytest.raises(StreamingQueryException):
        run(start, ["a"])
    assert start.started == [["a"]]


def test_one_that_always_fails_is_not_started_for_ever() -> None:
    start = Starts(a=[SLOW_WORKER] * 10)
    with pytest.raises(StreamingQueryException):
        run(start, ["a"])
    assert len(start.started) == STARTS
