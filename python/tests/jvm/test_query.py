"""Real queries on Keyfold, described afterwards from their files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

import keyfold
from keyfold import _jvm
from keyfold.errors import InvalidArgumentError, KeyfoldError
from keyfold.format.source import BytesSource
from keyfold.settings import PROVIDER_CLASS, PROVIDER_KEY
from kit.providers import HDFS, session_of
from kit.state_files import read_entries
from python.tests.jvm.word_queries import by_word, run

pytestmark = pytest.mark.spark

WORDS = [["a", "b", "a", "c"], ["d", "a"], ["e", "f", "g", "a"]]


def changes(spark: SparkSession) -> list[tuple[int, int]]:
    """Versions of `WORDS` and the partitions, of two, that are written: the first one is always."""
    words = [(version, word) for version, batch in enumerate(WORDS, 1) for word in batch]
    partition = sf.expr("pmod(hash(word), 2)")
    found = spark.createDataFrame(words, "version int, word string").select("version", partition)
    return sorted({(1, 0), (1, 1), *(tuple(row) for row in found.collect())})


def test_session_and_spark_conf_name_the_provider(spark: SparkSession) -> None:
    assert spark.conf.get(PROVIDER_KEY) == PROVIDER_CLASS
    assert spark.sparkContext.getConf().get(PROVIDER_KEY) == PROVIDER_CLASS


def test_the_running_spark_and_its_jar_are_of_one_line(spark: SparkSession) -> None:
    assert _jvm.running_version() == spark.version == _jvm.spark_version()
    assert _jvm.line_of_jar() == "4.2"


def test_running_session_and_late_builder_can_be_configured(spark: SparkSession) -> None:
    other = spark.newSession()
    other.conf.unset(PROVIDER_KEY)
    assert keyfold.configure(other) is other
    assert other.conf.get(PROVIDER_KEY) == PROVIDER_CLASS
    assert keyfold.configure(SparkSession.builder).getOrCreate() is spark


def test_a_query_is_rescaled_when_it_starts(spark: SparkSession, tmp_path: Path) -> None:
    session = keyfold.configure(spark.newSession(), partitions=3)
    with pytest.raises(InvalidArgumentError, match="not 0"):
        keyfold.configure(session, partitions=0)
    run(spark, tmp_path, by_word, WORDS)
    checkpoint = run(session, tmp_path, by_word, WORDS)
    found = keyfold.open_checkpoint(checkpoint)
    (operator,) = found.describe().operators
    assert (operator.partitions, found.describe().last_batch) == (3, 6)
    rows = spark.read.format("statestore").load(str(checkpoint))
    counts = dict(rows.select("key.word", "value.count").collect())
    assert counts == {"a": 8, "b": 2, "c": 2, "d": 2, "e": 2, "f": 2, "g": 2}


def test_aggregation_is_described(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = run(spark, tmp_path, by_word, WORDS)
    found = keyfold.open_checkpoint(checkpoint).describe()
    assert found.problems == ()
    assert (found.last_batch, found.provider) == (2, PROVIDER_CLASS)
    (operator,) = found.operators
    assert (operator.name, operator.partitions) == ("stateStoreSave", 2)
    assert (operator.latest_version, operator.oldest_loadable_version) == (3, 1)
    (store,) = operator.stores
    assert store.rows == 7
    assert store.min_partition_rows + store.max_partition_rows == 7
    assert (store.deltas, store.references) == (len(changes(spark)), 0)
    # A key of one short string takes 24 bytes as UnsafeRow, a value of one BIGINT 16.
    assert store.live_bytes == 7 * 40
    kept = (checkpoint / "state/0").rglob("[0-9]*.*")
    assert store.disk_bytes == sum(it.stat().st_size for it in kept)


def test_nothing_of_a_checkpoint_is_written_by_hadoops_local_files(
    spark: SparkSession, tmp_path: Path
) -> None:
    checkpoint = run(spark, tmp_path, by_word, WORDS)
    written = {it.name for it in checkpoint.rglob("*") if it.is_file()}
    assert {"metadata", "0", "1", "2"} < written
    # Spark writes the first of these by no checkpoint file manager.
    assert {it for it in written if it.endswith(".crc")} <= {".metadata.crc"}


def test_every_file_reads_back_as_the_query_wrote_it(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = run(spark, tmp_path, by_word, WORDS)
    counts: dict[bytes, int] = {}
    written = changes(spark)
    for version, partition in written:
        [delta] = (checkpoint / f"state/0/{partition}").glob(f"{version}_*.delta")
        counts |= puts(delta)
    assert len(list(checkpoint.glob("state/0/*/*.delta"))) == len(written)
    words = [word for batch in WORDS for word in batch]
    assert counts == {word.encode(): words.count(word) for word in words}


def test_a_partition_without_changes_writes_no_file(spark: SparkSession, tmp_path: Path) -> None:
    words = [f"word {it}" for it in range(20)]
    checkpoint = run(spark, tmp_path, by_word, [words, words[:1], words[:1], words])
    for version, files in ((1, 2), (2, 1), (3, 1), (4, 2)):
        assert len(list(checkpoint.glob(f"state/0/*/{version}_*.delta"))) == files
    opened = keyfold.open_checkpoint(checkpoint)
    for batch, of_first in enumerate((1, 2, 3, 4)):
        expected = dict.fromkeys(words, 1 + (batch == 3)) | {words[0]: of_first}
        found = opened[0].scan(batch=batch).to_pylist()
        assert {it["key"]["word"]: it["value"]["count"] for it in found} == expected
    assert opened.fsck(deep=True).findings == ()


def test_aggregation_without_keys_has_one_partition(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = run(spark, tmp_path, lambda stream: stream.agg(sf.count("word")), WORDS[:1])
    found = keyfold.open_checkpoint(checkpoint).describe()
    assert found.problems == ()
    assert [(it.partitions, it.rows) for it in found.operators] == [(1, 1)]


def test_session_started_without_the_jar_is_told_so(tmp_path: Path) -> None:
    code = """
import keyfold
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = builder.getOrCreate()
for target in (spark, SparkSession.builder):
    try:
        keyfold.configure(target)
    except keyfold.KeyfoldError as error:
        print(error.condition)
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.split() == ["KEYFOLD_JAR_NOT_LOADED"] * 2


def test_other_provider_of_a_real_checkpoint_is_named(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = run(session_of(spark, HDFS, 1), tmp_path, by_word, WORDS[:1])
    with pytest.raises(KeyfoldError, match=HDFS):
        keyfold.open_checkpoint(checkpoint)


def puts(path: Path) -> dict[bytes, int]:
    """Words and counts that a delta puts, taken from the raw bytes of their rows."""
    entries = read_entries(BytesSource(str(path), path.read_bytes()))
    return {it.key[16:].rstrip(b"\0"): int.from_bytes(it.values[0][8:], "little") for it in entries}
