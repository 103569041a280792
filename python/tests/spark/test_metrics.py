"""Metrics of state in Spark's metrics system, and the tab of its UI."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql.streaming import StreamingQuery

import keyfold
from keyfold.settings import PLUGIN_CLASS, PLUGINS_KEY, PROMETHEUS_SETTINGS
from kit.providers import HDFS, session_of
from kit.session import NEEDS_JAR, session

pytestmark = NEEDS_JAR

SETTINGS = {
    PLUGINS_KEY: PLUGIN_CLASS,
    **PROMETHEUS_SETTINGS,
    "spark.executor.heartbeatInterval": "300ms",
    "spark.ui.enabled": "true",
    "spark.ui.port": "0",
}
_NAME = re.compile(r"metrics_.*_driver_plugin_io_keyfold_spark_KeyfoldPlugin_(.*)_Value\{.*\} (.*)")


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Not that of the other modules: the plugin is there or not when Spark starts."""
    with session(tmp_path_factory.mktemp("metrics"), SETTINGS) as made:
        yield made


def page(spark: SparkSession, path: str) -> str:
    with urlopen(f"{spark.sparkContext.uiWebUrl}/{path}") as answer:  # noqa: S310 - our own
        return str(answer.read().decode())


def metrics(spark: SparkSession, prefix: str) -> dict[str, float]:
    """Those whose names begin so, without the prefix."""
    found = map(_NAME.fullmatch, page(spark, "metrics/prometheus").splitlines())
    named = {it[1]: float(it[2]) for it in found if it is not None}
    return {name.removeprefix(prefix): named[name] for name in named if name.startswith(prefix)}


def eventually(is_so: Callable[[], bool]) -> None:
    """Within the next reports of the executor."""
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


def words(spark: SparkSession, root: Path) -> DataFrame:
    stream = spark.readStream.schema("word string, at timestamp").json(str(root / "in"))
    return stream.withWatermark("at", "1 hour")


def add(root: Path, name: str, *of: str) -> None:
    (root / "in").mkdir(exist_ok=True)
    rows = [f'{{"word": "{it}", "at": "2026-01-01T00:00:00"}}' for it in of]
    (root / "in" / f"{name}.json").write_text("\n".join(rows), encoding="utf-8")


def start(query: DataFrame, root: Path, name: str | None = None) -> StreamingQuery:
    writer = query.writeStream.format("noop").outputMode("append")
    writer = writer.option("checkpointLocation", str(root / "cp"))
    return (writer if name is None else writer.queryName(name)).start()


def test_a_query_and_its_operators_have_metrics_while_it_runs(
    spark: SparkSession, tmp_path: Path
) -> None:
    add(tmp_path, "1", "a", "b", "a", "c", "c")
    query = words(spark, tmp_path).dropDuplicates(["word", "at"]).groupBy("at", "word").count()
    running = start(query, tmp_path, "by word/1")
    running.processAllAvailable()
    add(tmp_path, "2", "d", "a")
    running.processAllAvailable()
    last = running.lastProgress
    assert last is not None
    whole = metrics(spark, "query_by_word_1_")
    assert whole["batch_id"] == last["batchId"]
    assert whole["input_rows_total"] == 7
    assert whole["batch_seconds"] > 0
    assert abs(whole["batch_timestamp_seconds"] - time.time()) < 300
    # The operator that comes last has number 0.
    of_counts, of_words = (metrics(spark, f"query_by_word_1_operator_{it}_") for it in (0, 1))
    described = keyfold.open_checkpoint(tmp_path / "cp").describe()
    stored = {it.id: it for it in described.operators}
    assert [stored[0].name, stored[1].name] == ["stateStoreSave", "dedupe"]
    for found, operator in ((of_counts, stored[0]), (of_words, stored[1])):
        [store] = operator.stores
        assert found["state_rows"] == store.rows == 4
        assert found["state_bytes"] == store.live_bytes
        assert found["partitions"] == operator.partitions
        assert found["deltas_total"] == store.deltas
        assert found["updated_rows_total"] >= 4
        assert found["commit_seconds_total"] >= 0
    # Stores of earlier sessions in this process may still be loaded.
    eventually(lambda: metrics(spark, "executor_driver_")["state_rows"] >= 8)
    rows = [
        found[f"partition_{partition}_rows"]
        for found in (metrics(spark, "query_by_word_1_operator_1_"),)
        for partition in range(2)
    ]
    of_words = metrics(spark, "query_by_word_1_operator_1_")
    assert sum(rows) == 4
    assert (of_words["partition_rows_max"], of_words["partition_rows_mean"]) == (max(rows), 2)
    assert of_words["unplaced_rows"] == 0
    # Two batches with input, and one without.
    assert 1 <= of_words["load_files_max"] <= 3
    tab = page(spark, "keyfold/")
    assert "Query by_word_1" in tab
    assert "stateStoreSave" in tab
    assert metrics(spark, "")["queries"] == 1
    running.stop()
    # What was of the last batch stays, for who looks seldom; what is of stores goes.
    eventually(lambda: "seen_timestamp_seconds" not in metrics(spark, "query_by_word_1_"))
    ended = metrics(spark, "query_by_word_1_")
    assert ended["batch_id"] == whole["batch_id"]
    assert ended["operator_1_state_rows"] == 4
    assert "operator_1_partition_rows_max" not in ended
    again = start(query, tmp_path, "by word/1")
    eventually(lambda: metrics(spark, "query_by_word_1_") == {})
    again.stop()
    assert "No query with its state in Keyfold" in page(spark, "keyfold/")


def test_queries_of_one_name_in_two_sessions_are_told_apart(
    spark: SparkSession, tmp_path: Path
) -> None:
    running = []
    for number in (1, 2):
        root = tmp_path / str(number)
        root.mkdir()
        add(root, "1", *"abcde"[:number])
        query = words(spark.newSession(), root).dropDuplicates(["word", "at"])
        running.append(start(query, root, "same"))
        running[-1].processAllAvailable()
    second = str(running[1].id).replace("-", "_")
    assert metrics(spark, "query_same_operator_0_")["state_rows"] == 1
    assert metrics(spark, f"query_{second}_operator_0_")["state_rows"] == 2
    for it in running:
        it.stop()


def test_queries_of_other_providers_and_without_state_have_none(
    spark: SparkSession, tmp_path: Path
) -> None:
    add(tmp_path, "1", "a", "b")
    other = session_of(spark, HDFS, 1)
    for name, query in (
        ("stateless", words(spark, tmp_path).select(F.upper("word"))),
        ("other", words(other, tmp_path).dropDuplicates(["word", "at"])),
    ):
        (tmp_path / name).mkdir()
        running = start(query, tmp_path / name, name)
        running.processAllAvailable()
        assert running.lastProgress is not None
        assert metrics(spark, f"query_{name}_") == {}
        running.stop()
