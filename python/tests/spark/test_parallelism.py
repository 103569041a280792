"""The parallelism of an operator with state of its subtasks changes, by restart and by command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import DataFrame, SparkSession

import keyfold
from keyfold.cli.main import cli
from keyfold.errors import InvalidArgumentError, JvmError
from keyfold.subtasks import operator
from keyfold.subtasks.place import place_of
from kit.session import NEEDS_JAR
from python.tests.spark.subtasks import (
    VECTORS,
    Collector,
    Counter,
    Query,
    Rows,
    Rules,
    device_rows,
)
from python.tests.spark.verbs import every_verb_works

pytestmark = NEEDS_JAR

Change = Callable[[Path, str, int], None]


def by_restart(checkpoint: Path, operator: str, parallelism: int) -> None:
    """Nothing: the start does it."""


def by_call(checkpoint: Path, operator: str, parallelism: int) -> None:
    before = files(checkpoint)
    planned = keyfold.redistribute(checkpoint, operator, parallelism)
    assert not planned.applied
    assert planned.refusals == ()
    assert files(checkpoint) == before
    assert keyfold.redistribute(checkpoint, operator, parallelism, dry_run=False).applied


def by_command(checkpoint: Path, operator: str, parallelism: int) -> None:
    said = command(checkpoint, "--operator", operator, "--parallelism", str(parallelism), "--apply")
    assert "to undo" in said


ways = pytest.mark.parametrize("change", [by_restart, by_call, by_command])


def command(checkpoint: Path, *arguments: str) -> str:
    return verb("rescale", checkpoint, *arguments)


def verb(name: str, checkpoint: Path, *arguments: str) -> str:
    result = CliRunner().invoke(cli, [name, str(checkpoint), *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def files(checkpoint: Path) -> dict[str, bytes]:
    return {
        str(it.relative_to(checkpoint)): it.read_bytes()
        for it in checkpoint.rglob("*")
        if it.is_file()
    }


def counts(query: Query, parallelism: int, **named: Any) -> DataFrame:
    return keyfold.with_operator_state(
        query.source("in", "device string, v double"),
        query.function,
        "subtask int, count int",
        parallelism=parallelism,
        **named,
    )


@ways
def test_counts_split_from_two_to_three_are_those_published(
    spark: SparkSession, tmp_path: Path, change: Change
) -> None:
    vector = VECTORS["split_list"]
    query = Query(spark, tmp_path, Counter())
    query.add("in", device_rows(vector["records"]))
    assert query.run(counts(query, 2)) == sorted(map(tuple, vector["parallelism_2"]))
    change(tmp_path / "checkpoint", "Counter", 3)
    query.add("in", device_rows(vector["records"]))
    assert query.run(counts(query, 3)) == sorted(map(tuple, vector["then_rescaled_to_3"]))
    [found] = keyfold.open_checkpoint(tmp_path / "checkpoint").operators
    rows = found["counts"].scan().to_arrow().to_pylist()
    assert sorted((it["key"]["subtask"], it["list_element"]["count"]) for it in rows) == sorted(
        map(tuple, vector["then_rescaled_to_3"])
    )
    # The subtask that is left counts on from the sum.
    change(tmp_path / "checkpoint", "Counter", 1)
    query.add("in", device_rows([["a", 7.0]]))
    assert query.run(counts(query, 1)) == [(0, 7)]


@ways
def test_lists_united_from_two_to_three_are_those_published(
    spark: SparkSession, tmp_path: Path, change: Change
) -> None:
    query = Query(spark, tmp_path, Collector())

    def df(parallelism: int) -> DataFrame:
        return keyfold.with_operator_state(
            query.source("in", "device string, v double"),
            query.function,
            "subtask int, list array<double>",
            parallelism=parallelism,
        )

    def expected(rows: list[dict[str, Any]]) -> Rows:
        return sorted((it["subtask"], it["list"]) for it in rows)

    before, after = (VECTORS["union_list"][it] for it in ("parallelism_2", "then_rescaled_to_3"))
    query.add("in", device_rows([it["in"] for it in before]))
    assert query.run(df(2)) == expected(before)
    change(tmp_path / "checkpoint", "Collector", 3)
    query.add("in", device_rows([it["in"] for it in after]))
    assert query.run(df(3)) == expected(after)


@ways
def test_rules_copied_from_two_to_four_to_one_are_those_published(
    spark: SparkSession, tmp_path: Path, change: Change
) -> None:
    vector = VECTORS["broadcast"]
    query = Query(spark, tmp_path, Rules())

    def run(parallelism: int) -> list[tuple[int, list[str], bool, list[int]]]:
        query.add("in", device_rows([["a", 1.0]] * parallelism))
        df = keyfold.with_operator_state(
            query.source("in", "device string, v double"),
            query.function,
            "subtask int, line string",
            parallelism=parallelism,
            broadcast=query.source("rules", "id string, rule string"),
        )
        lines = [(subtask, json.loads(line)) for subtask, line in query.run(df)]
        return [(subtask, known, restored, told) for subtask, (_, known, restored, told) in lines]

    def expected(name: str) -> list[tuple[int, list[str]]]:
        return [
            (it["subtask"], [" ".join(map(str, rule)) for rule in it["rules"]])
            for it in vector[name]
        ]

    query.add("rules", [dict(zip(("id", "rule"), vector["rule"], strict=True))])
    first = run(2)
    assert [it[:2] for it in first] == expected("parallelism_2")
    assert [it[2:] for it in first] == [(False, [])] * 2
    change(tmp_path / "checkpoint", "Rules", 4)
    second = run(4)
    assert [it[:2] for it in second] == expected("then_rescaled_to_4")
    # All have state of an earlier batch, and each hears that it is committed.
    assert [it[2:] for it in second] == [(True, [0])] * 4
    change(tmp_path / "checkpoint", "Rules", 1)
    third = run(1)
    assert [it[:2] for it in third] == expected("then_rescaled_to_1")
    # The lists of what each was told, in the subtasks' order, then what this one was told.
    assert [it[2:] for it in third] == [(True, [0, 0, 0, 0, 1])]


def test_a_change_waits_for_no_batch_that_was_begun(spark: SparkSession, tmp_path: Path) -> None:
    """As after a kill: the batch was begun, and its commit is missing."""
    query = Query(spark, tmp_path, Counter())
    for _ in range(2):
        query.add("in", device_rows(VECTORS["split_list"]["records"]))
        query.run(counts(query, 2))
    (tmp_path / "checkpoint/commits/1").unlink()
    (tmp_path / "checkpoint/commits/.1.crc").unlink(missing_ok=True)
    # Counts 2 and 1 of the first batch go to three, and the second batch runs again.
    assert query.run(counts(query, 3)) == [(0, 3), (1, 2), (2, 1)]


def test_it_is_undone_until_the_query_has_run(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    query = Query(spark, tmp_path, Counter())
    query.add("in", device_rows(VECTORS["split_list"]["records"]))
    query.run(counts(query, 2))
    assert keyfold.redistribute(checkpoint, "Counter", 3, dry_run=False).applied
    assert "subtasks before the redistribution" in command(checkpoint, "--undo")
    keyfold.undo_rescale(checkpoint, dry_run=False)
    query.add("in", device_rows([["a", 7.0], ["a", 7.0]]))
    assert query.run(counts(query, 2)) == [(0, 3), (1, 2)]
    with pytest.raises(JvmError, match="KEYFOLD_RESCALE_UNDO"):
        keyfold.undo_rescale(checkpoint, dry_run=False)


def test_a_start_without_ids_is_refused_before_it_begins_a_batch(
    spark: SparkSession, tmp_path: Path
) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "1")
    query = Query(session, tmp_path, Counter())
    query.add("in", device_rows(VECTORS["split_list"]["records"]))
    query.run(counts(query, 2))
    before = files(tmp_path / "checkpoint")
    query.add("in", device_rows([["a", 7.0]]))
    with pytest.raises(Exception, match="KEYFOLD_REDISTRIBUTE_FORMAT"):
        query.run(counts(query, 3))
    refused = keyfold.redistribute(tmp_path / "checkpoint", "Counter", 3)
    assert "format 1" in refused.refusals[0]
    assert files(tmp_path / "checkpoint") == before
    assert query.run(counts(query, 2)) == [(0, 3)]


def test_more_subtasks_than_the_last_start_allowed_are_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    query = Query(spark, tmp_path, Counter())
    query.add("in", device_rows(VECTORS["split_list"]["records"]))
    query.run(counts(query, 2, max_parallelism=3))
    with pytest.raises(JvmError, match="KEYFOLD_REDISTRIBUTE_PARALLELISM"):
        keyfold.redistribute(tmp_path / "checkpoint", "Counter", 4, dry_run=False)
    with pytest.raises(InvalidArgumentError, match="parallelism: 0"):
        keyfold.redistribute(tmp_path / "checkpoint", "Counter", 0)
    with pytest.raises(JvmError, match="KEYFOLD_REDISTRIBUTE_NO_OPERATOR"):
        keyfold.redistribute(tmp_path / "checkpoint", "Other", 3, dry_run=False)


def test_a_start_may_raise_the_maximum(spark: SparkSession, tmp_path: Path) -> None:
    query = Query(spark, tmp_path, Counter())
    query.add("in", device_rows([["a", 7.0]] * 4))
    query.run(counts(query, 2, max_parallelism=2))
    query.add("in", device_rows([["a", 7.0]] * 4))
    # Counts 2 and 2 of the old ones are dealt to the first two of the new ones.
    assert query.run(counts(query, 4, max_parallelism=4)) == [(0, 3), (1, 3), (2, 1), (3, 1)]
    assert keyfold.redistribute(tmp_path / "checkpoint", "Counter", 3).refusals == ()


def test_without_the_extension_another_parallelism_fails_and_loses_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    query = Query(spark, tmp_path, Counter())
    query.add("in", device_rows([["a", 7.0]]))
    assert query.run(counts(query, 2)) == [(0, 1)]
    query.add("in", device_rows([["a", 7.0]]))
    # The extension does not find the operator in the plan.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operator, "SAID", "nothing")
        df = counts(query, 3)
    with pytest.raises(Exception, match="KEYFOLD_OPERATOR_PARALLELISM"):
        query.run(df)
    assert query.run(counts(query, 2)) == [(0, 2)]


def test_two_united_operators_of_one_name_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    query = Query(spark, tmp_path, Counter())
    query.add("in", device_rows([["a", 7.0]]))
    with pytest.raises(Exception, match="KEYFOLD_OPERATOR_NAME"):
        query.run(counts(query, 2).union(counts(query, 2)))
    assert not (tmp_path / "checkpoint/offsets").exists()
    assert len(query.run(counts(query, 2).union(counts(query, 2, name="other")))) == 2


def test_another_name_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    query = Query(spark, tmp_path, Counter())

    def both(first: str, second: str) -> DataFrame:
        return counts(query, 2, name=first).union(counts(query, 2, name=second))

    query.add("in", device_rows([["a", 7.0]]))
    assert query.run(both("a", "a_b")) == [(0, 1), (0, 1)]
    query.add("in", device_rows([["a", 7.0]]))
    with pytest.raises(Exception, match=r"KEYFOLD_OPERATOR_PLACE.*in the order that they had"):
        query.run(both("a_b", "a"))
    with pytest.raises(Exception, match=r"KEYFOLD_OPERATOR_NAME.*pass the old name"):
        query.run(both("a", "b"))
    with pytest.raises(Exception, match=r"KEYFOLD_OPERATOR_NAME.*neither added .* nor taken out"):
        query.run(counts(query, 2, name="a"))
    assert query.run(both("a", "a_b")) == [(0, 2), (0, 2)]


def test_it_is_seen_from_outside_by_name_and_subtask(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    query = Query(spark, tmp_path, Counter())
    for _ in range(2):
        query.add("in", device_rows([["a", 7.0]] * 3))
        query.run(counts(query, 2))
    every_verb_works(checkpoint)
    keyfold.redistribute(checkpoint, "Counter", 3, dry_run=False)
    every_verb_works(checkpoint)
    query.add("in", device_rows([["a", 7.0]]))
    query.run(counts(query, 3))
    every_verb_works(checkpoint)
    said = "Counter, 3 subtasks: counts (3 values)"
    assert said in verb("describe", checkpoint)
    assert said in (tmp_path / "report.html").read_text()
    key = json.dumps({"subtask": 0, "place": place_of(0)})

    def rows(*arguments: str) -> list[dict[str, Any]]:
        said = verb(arguments[0], checkpoint, *arguments[1:], "-o", "json")
        return [json.loads(it) for it in said.splitlines()]

    [got] = rows("get", "0/counts", key)
    assert (got["key"]["subtask"], got["list_element"]) == (0, {"count": 5})
    diff = rows("diff", "0/counts", "1", "2")
    assert sorted(
        (it["key"]["subtask"], it["before_list_value"], it["after_list_value"]) for it in diff
    ) == [(0, [{"count": 4}], [{"count": 5}]), (2, None, [{"count": 0}])]
    history = rows("history", "0/counts", key)
    assert [it["list_element"] for it in history] == [{"count": 2}, {"count": 4}, {"count": 5}]
    own = rows("scan", "0/subtask_of_Counter")
    assert sorted((it["key"]["subtask"], it["value"]["parallelism"]) for it in own) == [
        (subtask, 3) for subtask in range(3)
    ]
    [checked] = rows("fsck")
    assert checked["ok"]
    assert checked["findings"] == []
