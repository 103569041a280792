"""A checkpoint and a session that name different providers, both ways."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.errors import IllegalArgumentException, StreamingQueryException
from pyspark.sql import SparkSession

import keyfold
from keyfold.cli.main import cli
from keyfold.settings import FORMAT_KEY, PROVIDER_CLASS
from kit.providers import HDFS, ROCKSDB, session_of
from python.tests.jvm.word_queries import by_word, run

WORDS = [["a", "b", "a"]]

pytestmark = pytest.mark.spark


def counts(spark: SparkSession, checkpoint: Path) -> dict[str, int]:
    """What the state holds, from Spark's own reader."""
    rows = spark.read.format("statestore").load(str(checkpoint))
    return dict(rows.select("key.word", "value.count").collect())


def files_in(checkpoint: Path) -> set[Path]:
    return set(checkpoint.rglob("*"))


@pytest.mark.parametrize("provider", [HDFS, ROCKSDB])
def test_an_old_checkpoint_of_another_provider_is_refused_and_goes_on_as_the_error_says(
    spark: SparkSession, tmp_path: Path, provider: str
) -> None:
    checkpoint = run(session_of(spark, provider, 1), tmp_path, by_word, WORDS)
    before = files_in(checkpoint)
    with pytest.raises(IllegalArgumentException) as caught:
        run(spark, tmp_path, by_word, WORDS)
    said = str(caught.value)
    assert "[KEYFOLD_OTHER_PROVIDER]" in said
    for part in (f"{checkpoint}/state", provider, f"{FORMAT_KEY}=1", "new checkpoint location"):
        assert part in said
    assert files_in(checkpoint) == before

    format_1 = session_of(spark, PROVIDER_CLASS, 1)
    run(format_1, tmp_path, by_word, WORDS)
    assert counts(format_1, checkpoint) == {"a": 6, "b": 3}
    with pytest.raises(keyfold.KeyfoldError, match=provider):
        keyfold.open_checkpoint(checkpoint)

    [command] = re.findall(r"`keyfold (.*?)`", said)
    done = CliRunner().invoke(cli, shlex.split(command))
    assert done.exit_code == 0, done.output
    run(spark, tmp_path, by_word, WORDS)
    assert counts(spark, checkpoint) == {"a": 8, "b": 4}
    assert keyfold.open_checkpoint(checkpoint).describe().rows == 2


def test_a_checkpoint_of_rocksdb_under_format_2_goes_on_with_rocksdb(
    spark: SparkSession, tmp_path: Path
) -> None:
    checkpoint = run(session_of(spark, ROCKSDB, 2), tmp_path, by_word, WORDS)
    run(spark, tmp_path, by_word, WORDS)
    assert counts(spark, checkpoint) == {"a": 4, "b": 2}
    with pytest.raises(keyfold.KeyfoldError, match=ROCKSDB):
        keyfold.open_checkpoint(checkpoint)


@pytest.mark.parametrize("provider", [HDFS, ROCKSDB])
def test_an_edited_offset_log_does_not_make_a_checkpoint_keyfolds(
    spark: SparkSession, tmp_path: Path, provider: str
) -> None:
    checkpoint = run(session_of(spark, provider, 1), tmp_path, by_word, WORDS)
    offsets = checkpoint / "offsets" / "0"
    offsets.write_text(offsets.read_text().replace(provider, PROVIDER_CLASS))
    (checkpoint / "offsets" / ".0.crc").unlink(missing_ok=True)
    with pytest.raises(StreamingQueryException) as caught:
        run(spark, tmp_path, by_word, WORDS)
    said = str(caught.value)
    assert "[KEYFOLD_NOT_A_KEYFOLD_FILE]" in said
    assert "run the query with the provider that wrote the checkpoint" in said


@pytest.mark.parametrize("provider", [HDFS, ROCKSDB])
def test_a_checkpoint_of_keyfold_goes_on_with_keyfold_whatever_the_session_says(
    spark: SparkSession, tmp_path: Path, provider: str
) -> None:
    checkpoint = run(spark, tmp_path, by_word, WORDS)
    run(session_of(spark, provider, 2), tmp_path, by_word, WORDS)
    assert counts(spark, checkpoint) == {"a": 4, "b": 2}
    described = keyfold.open_checkpoint(checkpoint).describe()
    assert (described.problems, described.rows, described.last_batch) == ((), 2, 1)
