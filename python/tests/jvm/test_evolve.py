"""A changed query goes on with the state of the query before, from Python and the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

import keyfold
from keyfold.cli.main import cli
from keyfold.errors import InvalidArgumentError, JvmError
from kit.files import files_in
from python.tests.jvm.word_queries import by_word, run

pytestmark = pytest.mark.spark

FIRST = [["a", "b", "a", "cc"], ["dd", "a"]]
SECOND = [["a", "e"], ["cc"]]


def with_length(stream: DataFrame) -> DataFrame:
    """Of each word how often it was, and how long it is."""
    return stream.groupBy("word").agg(F.max(F.length("word")), F.count("*"))


def by_length(stream: DataFrame) -> DataFrame:
    return stream.groupBy(F.length("word").alias("length")).count()


def values(checkpoint: Path) -> dict[object, tuple[object, ...]]:
    rows = keyfold.open_checkpoint(checkpoint)["agg"].only.scan().to_pylist()
    return {next(iter(row["key"].values())): tuple(row["value"].values()) for row in rows}


def words(spark: SparkSession, root: Path) -> DataFrame:
    return spark.readStream.schema("word string").json(str(root / "in"))


def invoke(*arguments: object, code: int = 0) -> Result:
    done = CliRunner().invoke(cli, [str(it) for it in arguments])
    assert done.exit_code == code, (done.output, done.exception)
    return done


def saved(root: Path, name: str, query: str) -> str:
    """A file with the query as users have it."""
    file = root / name
    file.write_text(
        "from pyspark.sql import functions as F\n\n\ndef build(spark):\n"
        f"    rows = spark.readStream.schema('word string').json('{root / 'in'}')\n"
        f"    return rows.{query}\n",
        encoding="utf-8",
    )
    return f"{file}:build"


def test_a_query_with_another_aggregate_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    old = run(spark, tmp_path, by_word, FIRST)
    before = files_in(old)
    query, new = with_length(words(spark, tmp_path)), tmp_path / "new"
    plan = keyfold.evolve(old, query, new, output_mode="update")
    assert not new.exists()
    assert plan.refusals == ()
    assert (plan.last_batch, plan.rows, plan.applied) == (1, None, False)
    [operator] = plan.operators
    [table] = operator.tables
    assert [(it.name, it.source, it.aggregate) for it in table.columns] == [
        ("key.word", "key.word", None),
        ("value.max", "starts empty", "max(length(word))"),
        ("value.count", "value.count", "count(1)"),
    ]
    done = keyfold.evolve(old, query, new, output_mode="update", dry_run=False)
    assert (done.rows, done.applied) == (4, True)
    assert values(new) == {"a": (None, 3), "b": (None, 1), "cc": (None, 1), "dd": (None, 1)}
    run(spark, tmp_path, with_length, SECOND, "new")
    assert values(new) == {"a": (1, 4), "b": (None, 1), "cc": (2, 2), "dd": (None, 1), "e": (1, 1)}
    assert keyfold.open_checkpoint(new).fsck(deep=True).findings == ()
    assert keyfold.open_checkpoint(new).batches().column("batch_id").to_pylist() == [0, 1, 2, 3]
    assert files_in(old) == before
    run(spark, tmp_path, by_word, [])


def test_the_command_takes_queries_from_files(spark: SparkSession, tmp_path: Path) -> None:
    old = run(spark, tmp_path, by_word, FIRST)
    new = tmp_path / "new"
    to = saved(tmp_path, "app.py", "groupBy(F.length('word')).agg(F.count('*'))")
    asked = ("evolve", old, "--to", to, "--into", new, "--output-mode", "update")
    refused = json.loads(invoke(*asked, "-o", "json", code=1).stdout)
    assert "--set 0.key._groupingexpression=EXPRESSION" in refused["refusals"][0]
    asked += ("--set", "0.key._groupingexpression=length(key.word)")
    text = invoke(*asked).stdout
    assert "rows of several keys are merged" in text
    assert "not done" in text
    assert not new.exists()
    assert "done         2 rows" in invoke(*asked, "--apply").stdout
    assert values(new) == {1: (4,), 2: (2,)}
    run(spark, tmp_path, by_length, SECOND, "new")
    assert values(new) == {1: (6,), 2: (3,)}
    invoke(*asked, "--apply", code=3)


def test_the_query_before_tells_aggregates_apart(spark: SparkSession, tmp_path: Path) -> None:
    both = "groupBy('word').agg(F.count('*'), F.count(F.when(F.length('word') > 1, 1)))"
    long = "groupBy('word').agg(F.count(F.when(F.length('word') > 1, 1)))"
    before, to = saved(tmp_path, "before.py", both), saved(tmp_path, "after.py", long)

    def counting(stream: DataFrame) -> DataFrame:
        is_long = F.when(F.length("word") > 1, 1)
        return stream.groupBy("word").agg(F.count("*"), F.count(is_long))

    old, new = run(spark, tmp_path, counting, FIRST), tmp_path / "new"
    asked = ("evolve", old, "--to", to, "--into", new, "--output-mode", "update", "--apply")
    assert "give the query before with --from" in invoke(*asked, code=3).stderr
    invoke(*asked, "--from", before)
    assert values(new) == {"a": (0,), "b": (0,), "cc": (1,), "dd": (1,)}


def test_each_query_has_its_own_neighbours(spark: SparkSession, tmp_path: Path) -> None:
    old, new = run(spark, tmp_path, two_udfs, FIRST), tmp_path / "new"
    for name, aggregates in (("one", "first(c), second(c)"), ("two", "second(c), first(c)")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "aggregates.py").write_text(
            "from __future__ import annotations\n"
            "from dataclasses import dataclass\n"
            "from pyspark.sql import functions as F\n\n\n"
            "@dataclass\nclass Columns:\n    word: str\n\n\n"
            "def first(c): return F.sum(F.udf(lengths, 'int')(c.word))\n"
            "def second(c): return F.sum(F.udf(ones, 'int')(c.word))\n"
            "def lengths(word): return len(word)\n"
            "def ones(word): return 1\n"
            f"def both(): c = Columns('word'); return [{aggregates}]\n",
            encoding="utf-8",
        )
        (folder / "app.py").write_text(
            "from aggregates import both\n\n\ndef build(spark):\n"
            f"    rows = spark.readStream.schema('word string').json('{tmp_path / 'in'}')\n"
            "    return rows.groupBy('word').agg(*both())\n",
            encoding="utf-8",
        )
    invoke(
        "evolve", old, "--to", f"{tmp_path}/two/app.py:build", "--into", new,
        "--from", f"{tmp_path}/one/app.py:build", "--output-mode", "update", "--apply",
    )  # fmt: skip
    # How often, and how many letters: in the other order.
    assert values(old) == {"a": (3, 3), "b": (1, 1), "cc": (2, 1), "dd": (2, 1)}
    assert values(new) == {"a": (3, 3), "b": (1, 1), "cc": (1, 2), "dd": (1, 2)}


def two_udfs(stream: DataFrame) -> DataFrame:
    lengths, ones = F.udf(len, "int"), F.udf(lambda _: 1, "int")
    return stream.groupBy("word").agg(F.sum(lengths("word")), F.sum(ones("word")))


def test_the_checkpoints_number_of_partitions_counts_and_not_a_sessions(
    spark: SparkSession, tmp_path: Path
) -> None:
    old, new = run(spark, tmp_path, by_word, FIRST), tmp_path / "new"
    queries = []
    for partitions in (3, 5):
        session = spark.newSession()
        session.conf.set("spark.sql.shuffle.partitions", partitions)
        # A number that fits those of the checkpoint alone.
        session.conf.set("spark.sql.streaming.stateStore.keyfold.keyGroups", 4)
        queries.append(by_word(words(session, tmp_path)))
    keyfold.evolve(old, queries[0], new, output_mode="update", before=queries[1], dry_run=False)
    assert values(new) == values(old)
    assert keyfold.open_checkpoint(new).describe().operators[0].partitions == 2
    conf = [it.sparkSession.conf.get("spark.sql.shuffle.partitions") for it in queries]
    assert conf == ["3", "5"]


def test_wrong_use_is_named(spark: SparkSession, tmp_path: Path) -> None:
    old = run(spark, tmp_path, by_word, FIRST[:1])
    to = saved(tmp_path, "app.py", "groupBy('word').count()")
    for wrong, said in {
        "app": "FILE.py:FUNCTION",
        f"{tmp_path}/nothing.py:build": "no file",
        to.replace(":build", ":nothing"): "no function nothing",
        saved(tmp_path, "fails.py", "f("): "SyntaxError",
    }.items():
        assert said in invoke("evolve", old, "--to", wrong, "--into", "x", code=2).stderr
    for option, value in (("--sources", "one"), ("--map", "0"), ("--set", "0.value.sum")):
        invoke("evolve", old, "--to", to, "--into", "x", option, value, code=2)
    with pytest.raises(JvmError, match="Invalid --set"):
        keyfold.evolve(old, by_word(words(spark, tmp_path)), "x", values={"value.count": "1"})
    with pytest.raises(InvalidArgumentError, match="empty"):
        keyfold.evolve(old, by_word(words(spark, tmp_path)), "")


def test_a_checkpoint_of_format_1_gets_one_of_format_2_with_as_many_partitions(
    spark: SparkSession, tmp_path: Path
) -> None:
    """`keyfold doctor` says so of a new location."""
    session = spark.newSession()
    session.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "1")
    session.conf.set("spark.sql.shuffle.partitions", "3")
    old = run(session, tmp_path, by_word, FIRST)
    before = keyfold.open_checkpoint(old)
    assert [it.name for it in before.doctor().advice] == ["checkpoint-format-1"]
    new = tmp_path / "new"
    keyfold.evolve(old, by_word(words(spark, tmp_path)), new, output_mode="update", dry_run=False)
    assert keyfold.open_checkpoint(new).doctor().advice == ()
    assert set(keyfold.open_checkpoint(new).batches().column("partitions").to_pylist()) == {3}
    assert values(new) == values(old)
