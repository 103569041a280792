"""Writing state from Python and from the command line, and the query's next runs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

import keyfold
from keyfold.cli.main import cli
from keyfold.errors import InvalidArgumentError, JvmError, UnknownNameError
from kit.files import files_in
from python.tests.jvm.word_queries import by_word, run

pytestmark = pytest.mark.spark

FIRST = ["a", "b", "a", "c", "d", "e", "f"]
SECOND = ["a", "g", "b"]


def counts(checkpoint: Path) -> dict[str, int]:
    rows = keyfold.open_checkpoint(checkpoint)["agg"].only.scan().to_pylist()
    return {row["key"]["word"]: row["value"]["count"] for row in rows}


def row(word: str, count: int) -> str:
    return json.dumps({"key": {"word": word}, "value": {"count": count}})


def invoke(*arguments: object, code: int = 0) -> Result:
    done = CliRunner().invoke(cli, [str(it) for it in arguments])
    assert done.exit_code == code, (done.output, done.exception)
    return done


def test_a_new_query_goes_on_with_the_rows_of_another(spark: SparkSession, tmp_path: Path) -> None:
    old = run(spark, tmp_path / "old", by_word, [FIRST])
    new = run(spark, tmp_path / "new", by_word, [["x"]])
    rows = keyfold.open_checkpoint(old)["agg"].to_spark(spark)
    plan = keyfold.write_state(rows, new, replace=True)
    assert (plan.last_batch, plan.applied, plan.refusals) == (0, False, ())
    assert "not done" in str(plan)
    assert counts(new) == {"x": 1}
    done = keyfold.write_state(rows, new, replace=True, dry_run=False)
    assert (done.put, done.deleted, done.applied) == (6, None, True)
    assert f"rollback file:{new} --to-batch 0 --apply" in str(done)
    run(spark, tmp_path / "new", by_word, [SECOND])
    assert counts(new) == Counter([*FIRST, *SECOND])
    assert keyfold.open_checkpoint(new).fsck(deep=True).findings == ()


def test_all_rows_are_rewritten(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = run(spark, tmp_path, by_word, [FIRST])
    rows = keyfold.open_checkpoint(checkpoint)["agg"].to_spark(spark)
    upper = rows.select(
        F.struct(F.upper("key.word").alias("word")).alias("key"),
        F.struct((F.col("value.count") * 10).alias("count")).alias("value"),
    )
    keyfold.write_state(upper, checkpoint, operator="agg", replace=True, dry_run=False)
    run(spark, tmp_path, by_word, [["A", "a"]])
    tenfold = {word.upper(): 10 * count for word, count in Counter(FIRST).items()}
    assert counts(checkpoint) == tenfold | {"A": 21, "a": 1}


def test_a_table_of_arrow_is_written(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = run(spark, tmp_path, by_word, [FIRST])
    table = keyfold.open_checkpoint(checkpoint)["agg"].scan(where="key.word < 'c'").to_arrow()
    done = keyfold.write_state(None, checkpoint, delete=table, dry_run=False)
    assert (done.put, done.deleted) == (0, 2)
    assert counts(checkpoint) == {"c": 1, "d": 1, "e": 1, "f": 1}
    keyfold.write_state(table, checkpoint, dry_run=False)
    assert counts(checkpoint) == Counter(FIRST)
    assert [it["change"] for it in changes(checkpoint, 0, 1)] == ["deleted", "deleted"]


def changes(checkpoint: Path, before: int, after: int) -> list[dict[str, object]]:
    found = keyfold.open_checkpoint(checkpoint)["agg"].diff(before, after).to_pylist()
    return [dict(it) for it in found]


def test_what_cannot_be_written_is_said(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = run(spark, tmp_path, by_word, [FIRST])
    before = files_in(checkpoint)
    rows = keyfold.open_checkpoint(checkpoint)["agg"].to_spark(spark)
    with pytest.raises(InvalidArgumentError, match="rows to put"):
        keyfold.write_state(None, checkpoint)
    with pytest.raises(InvalidArgumentError, match="give some"):
        keyfold.write_state(None, checkpoint, delete=rows, replace=True)
    with pytest.raises(UnknownNameError, match="0 stateStoreSave"):
        keyfold.write_state(rows, checkpoint, operator="dedup")
    with pytest.raises(UnknownNameError, match="nothing"):
        keyfold.write_state(rows, checkpoint, table="nothing")
    with pytest.raises(JvmError, match="no column value") as caught:
        keyfold.write_state(rows.select("key"), checkpoint)
    assert caught.value.condition == "KEYFOLD_WRITE_ROWS"
    with pytest.raises(JvmError, match=r'two of the given rows have the key \{"word":"a"\}'):
        keyfold.write_state(rows.union(rows.where("key.word = 'a'")), checkpoint, dry_run=False)
    (checkpoint / "commits/0").unlink()
    refused = keyfold.write_state(rows, checkpoint).refusals
    assert len(refused) == 1
    assert "no committed batch" in refused[0]
    names = {name for name in files_in(checkpoint) if "state/" not in str(name)}
    assert names < set(before)


def test_a_few_rows_from_the_command_line(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = run(spark, tmp_path, by_word, [FIRST])
    before = files_in(checkpoint)
    rows, keys = tmp_path / "rows.json", tmp_path / "keys.json"
    rows.write_text("\n".join([row("a", 5), row("b", 1), row("z", 3)]), encoding="utf-8")
    keys.write_text('{"key": {"word": "c"}}\n{"key": {"word": "nobody"}}', encoding="utf-8")
    asked = ("edit", checkpoint, "agg", "--put", rows, "--delete", keys)
    shown = [line.split() for line in invoke(*asked).stdout.splitlines()]
    assert ["updated", "a", "2", "5"] in [it[:4] for it in shown]
    assert ["inserted", "z", "null", "3"] in [it[:4] for it in shown]
    assert ["deleted", "c", "1", "null"] in [it[:4] for it in shown]
    assert not [it for it in shown if it[1:2] in (["b"], ["nobody"])]
    assert files_in(checkpoint) == before
    done = json.loads(invoke(*asked, "--apply", "-o", "json").stdout)
    assert (done["put"], done["deleted"]) == (3, 1)
    run(spark, tmp_path, by_word, [["a", "c"]])
    assert counts(checkpoint) == Counter(FIRST) | {"a": 6, "z": 3, "c": 1}


def test_rows_that_scan_has_printed_are_taken(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = run(spark, tmp_path, by_word, [FIRST])
    printed = tmp_path / "rows.json"
    printed.write_text(invoke("scan", checkpoint, "agg", "-o", "json").stdout, encoding="utf-8")
    stored = tmp_path / "rows.parquet"
    pq.write_table(keyfold.open_checkpoint(checkpoint)["agg"].scan().to_arrow(), stored)
    for file in (printed, stored):
        invoke("edit", checkpoint, "agg", "--delete", file, "--apply")
        assert counts(checkpoint) == {}
        invoke("edit", checkpoint, "agg", "--put", file, "--apply")
        assert counts(checkpoint) == Counter(FIRST)


def paired(stream: DataFrame) -> DataFrame:
    return stream.join(stream.select(F.col("word").alias("other")), F.expr("word = other"))


def test_rows_of_a_side_of_a_join(spark: SparkSession, tmp_path: Path) -> None:
    found = tmp_path / "found"
    checkpoint = run(spark, tmp_path, paired, [["a", "a", "b"]], files=found)
    keys, rows = tmp_path / "keys.json", tmp_path / "rows.json"
    keys.write_text('{"key": {"field0": "a"}}', encoding="utf-8")
    of_b = {"key": {"field0": "b"}, "value": {"word": "b"}, "matched": True}
    rows.write_text("\n".join([json.dumps(of_b)] * 2), encoding="utf-8")
    asked = ("edit", checkpoint, "join/left", "--put", rows, "--delete", keys)
    shown = [line.split()[:2] for line in invoke(*asked).stdout.splitlines()]
    assert [it for it in shown if it[0] in {"inserted", "updated", "deleted"}] == [
        ["inserted", "b"],
        ["deleted", "a"],
        ["deleted", "a"],
    ]
    done = json.loads(invoke(*asked, "--apply", "-o", "json").stdout)
    assert (done["put"], done["deleted"]) == (2, 2)
    left = keyfold.open_checkpoint(checkpoint)["join"]["left"].scan().to_pylist()
    assert [it["value"]["word"] for it in left] == ["b", "b"]
    assert spark.read.json(str(found)).count() == 5
    run(spark, tmp_path, paired, [["a", "b"]], files=found)
    # A new row on the left finds two old ones of "a" and one of "b"; on the right none and two;
    # and both find each other.
    assert spark.read.json(str(found)).count() == 5 + 3 + 4
    assert keyfold.open_checkpoint(checkpoint).fsck(deep=True).findings == ()


def test_a_side_of_a_join_is_read_and_written(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = run(spark, tmp_path, paired, [["a", "a", "b"]], files=tmp_path / "found")
    side = keyfold.open_checkpoint(checkpoint)["join"]["left"]
    before = side.scan().to_pylist()
    assert {it["matched"] for it in before} == {True}
    keyfold.write_state(side.to_spark(spark), checkpoint, table="left", replace=True, dry_run=False)
    assert sorted(map(str, side.scan().to_pylist())) == sorted(map(str, before))
    with pytest.raises(JvmError, match="no column matched"):
        keyfold.write_state(side.to_spark(spark).drop("matched"), checkpoint, table="left")


def test_a_table_is_replaced_from_the_command_line(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = run(spark, tmp_path, by_word, [FIRST])
    rows = tmp_path / "rows.json"
    rows.write_text("\n".join([row("a", 2), row("z", 3)]), encoding="utf-8")
    asked = ("edit", checkpoint, "agg", "--put", rows, "--replace")
    shown = [line.split()[:2] for line in invoke(*asked).stdout.splitlines()]
    changes = {it[1]: it[0] for it in shown if it[0] in {"inserted", "updated", "deleted"}}
    assert changes == dict.fromkeys("bcdef", "deleted") | {"z": "inserted"}
    done = json.loads(invoke(*asked, "--apply", "-o", "json").stdout)
    assert (done["put"], done["deleted"]) == (2, None)
    assert counts(checkpoint) == {"a": 2, "z": 3}


def test_nothing_does_not_replace_all(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = run(spark, tmp_path, by_word, [FIRST])
    rows = keyfold.open_checkpoint(checkpoint)["agg"].to_spark(spark)
    with pytest.raises(JvmError, match="there are no rows to put"):
        keyfold.write_state(rows.where("false"), checkpoint, replace=True, dry_run=False)
    assert counts(checkpoint) == Counter(FIRST)


def test_a_new_row_of_each_of_many_keys(spark: SparkSession, tmp_path: Path) -> None:
    words = [f"w{it}" for it in range(150)]
    checkpoint = run(spark, tmp_path, by_word, [words])
    rows = tmp_path / "rows.json"
    rows.write_text("\n".join(row(it, 1) for it in [*words, "new"]), encoding="utf-8")
    shown = invoke("edit", checkpoint, "agg", "--put", rows).stdout
    assert [it.split()[:2] for it in shown.splitlines()[1:2]] == [["inserted", "new"]]


def test_times_in_a_file(spark: SparkSession, tmp_path: Path) -> None:
    """Parquet has them without a zone if Spark wrote it by default: they are in UTC."""

    def by_time(stream: DataFrame) -> DataFrame:
        timed = stream.select(F.timestamp_seconds(F.length("word")).alias("at"))
        return timed.groupBy("at").count()

    checkpoint = run(spark, tmp_path, by_time, [["a", "bb", "bb"]])
    table = keyfold.open_checkpoint(checkpoint)["agg"].only
    at = [it["key"]["at"] for it in table.scan().to_pylist()]
    file = tmp_path / "rows.parquet"
    key = pa.array([{"at": it.replace(tzinfo=None)} for it in at])
    value = pa.array([{"count": 9}] * len(at))
    pq.write_table(pa.table({"key": key, "value": value}), file)
    asked = ("edit", checkpoint, "agg", "--put", file)
    shown = [line.split()[0] for line in invoke(*asked).stdout.splitlines()]
    assert shown.count("updated") == len(at) == 2
    invoke(*asked, "--apply")
    assert [it["value"]["count"] for it in table.scan().to_pylist()] == [9, 9]


def test_a_file_that_does_not_fit_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = run(spark, tmp_path, by_word, [FIRST])
    file = tmp_path / "rows.json"
    for text, said in (
        ("", "no rows"),
        ("{", "line 1"),
        ('{"key": {"wrod": "a"}, "value": null}', "wrod"),
        ('{"key": {"word": "a"}}', "value is missing of key, value"),
        ('{"key": {"word": "a"}, "value": {"count": "many"}}', "line 1"),
    ):
        file.write_text(text, encoding="utf-8")
        refused = invoke("edit", checkpoint, "agg", "--put", file, code=2)
        assert said in refused.stderr
        assert "one object of JSON on each line" in refused.stderr
    invoke("edit", checkpoint, "agg", code=2)
    invoke("edit", checkpoint, "agg", "--put", tmp_path / "nothing", code=2)
    for columns in ({"a": [1]}, {"key": [{"wrod": "a"}], "value": [{"count": 1}]}):
        pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
        invoke("edit", checkpoint, "agg", "--put", tmp_path / "rows.parquet", code=2)
