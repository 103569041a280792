"""What a user sees who has forgotten a part of the set-up."""

from pathlib import Path

from cluster.keyed_values import FILES, expected, rows_of, write_input
from kit.submit import Spark

JOB = "cluster/aggregation_job.py"
EXTENSIONS = "spark.sql.extensions"
DRIVER_ONLY = "--driver-class-path"


def test_transform_with_state_without_the_extension_says_what_to_set(
    spark: Spark, tmp_path: Path
) -> None:
    write_input(tmp_path / "in", first=0, files=1)
    arguments = (tmp_path / "in", tmp_path / "checkpoint")
    program = spark.start("cluster/processor_job.py", *arguments, conf={EXTENSIONS: ""})
    assert program.wait() != 0
    [said] = [line for line in program.log.splitlines() if line.startswith("pyspark.errors.")]
    assert "StreamingQueryException: [STREAM_FAILED]" in said
    assert "[KEYFOLD_EXTENSION_MISSING]" in said
    assert f"{EXTENSIONS}=io.keyfold.spark.KeyfoldExtensions" in said
    assert "keyfold.configure(SparkSession.builder)" in said


def test_executors_get_a_jar_that_only_the_driver_was_given(spark: Spark, tmp_path: Path) -> None:
    source, checkpoint, output = (tmp_path / name for name in ("in", "checkpoint", "out"))
    write_input(source, first=0)
    spark.run(JOB, source, checkpoint, output, jar=DRIVER_ONLY)
    assert rows_of(output) == expected(FILES)


def test_without_the_extension_such_a_jar_does_not_reach_them(spark: Spark, tmp_path: Path) -> None:
    source, checkpoint, output = (tmp_path / name for name in ("in", "checkpoint", "out"))
    write_input(source, first=0)
    arguments = (source, checkpoint, output)
    program = spark.start(JOB, *arguments, conf={EXTENSIONS: ""}, jar=DRIVER_ONLY)
    assert program.wait() != 0
    assert "ClassNotFoundException: io.keyfold.spark.KeyfoldStateStoreProvider" in program.log
