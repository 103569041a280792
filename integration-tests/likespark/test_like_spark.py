"""A few queries on all providers; `make like-spark` runs as many as are wanted."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from pyspark.sql import SparkSession

from kit.session import NO_JAR, session
from likespark.operators import OPERATORS
from likespark.runs import SETTINGS, Runs
from likespark.trial import Trial, signature
from likespark.verdict import AGREE, ALONE, APART, REFUSED, Verdict, verdict
from likespark.world import World

# Most of these Spark does not refuse.
SEEDS = range(9, 15)


@pytest.mark.spark
@pytest.mark.skipif(bool(NO_JAR), reason=NO_JAR)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.timeout(900)
def test_what_runs_on_sparks_own_providers_runs_here_with_the_same_answer(tmp_path: Path) -> None:
    with session(tmp_path, SETTINGS) as spark:
        runs = Runs(spark, tmp_path)
        said = [runs.run(seed) for seed in SEEDS]
    assert runs.failed == [], "\n".join(said)
    # Else it would compare refusals with refusals.
    assert len(runs.verdicts[AGREE]) > len(SEEDS) / 2


def _trials(**outcomes: list[list[str]] | str) -> dict[str, Trial]:
    """By provider: the batches of one start, or what it failed with."""
    found = {}
    for name, it in outcomes.items():
        found[name] = Trial(World(1), name, cast("SparkSession", None), Path("unused"))
        if isinstance(it, str):
            found[name].failure = it
        else:
            found[name].answers.append(it)
    return found


def test_spark_providers_are_right_where_they_agree() -> None:
    a, b = [["a"]], [["b"]]
    assert verdict(_trials(keyfold=a, rocksdb=a, hdfs=a)) == Verdict(AGREE)
    assert verdict(_trials(keyfold=a, rocksdb=b, hdfs=b)).wrong is not None
    assert verdict(_trials(keyfold="[X_Y] no", rocksdb=b)).kind == "fails: X_Y"
    assert verdict(_trials(keyfold=a, rocksdb=a, hdfs=b)).kind == APART
    assert verdict(_trials(keyfold=a, rocksdb=a, hdfs="[X_Y] no")).kind == APART
    assert verdict(_trials(keyfold="[X_Y] no", rocksdb="[X_Y] no")).kind == f"{REFUSED}: X_Y"
    assert verdict(_trials(keyfold=a, rocksdb="[X_Y] no")).kind == f"{ALONE}: X_Y"


def test_equal_failures_have_one_signature() -> None:
    failed = "[STREAM_FAILED] ... exception: [CANNOT_WRITE_STATE_STORE.X] at {}: [KEYFOLD_Y] {}"
    assert signature(failed.format("/a/1", 7)) == signature(failed.format("/b/2", 8)) == "KEYFOLD_Y"
    assert signature("Task 7 in /a/b") == signature("Task 8 in /c")


def test_every_operator_is_drawn() -> None:
    drawn = {World(seed).operator.name for seed in range(1, 301)}
    assert drawn == {it.name for it in OPERATORS}
