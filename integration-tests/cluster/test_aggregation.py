"""An aggregation on two executors, configured by the files that Keyfold ships."""

from pathlib import Path

import keyfold
from cluster.keyed_values import FILES, KEYS, expected, rows_of, write_input
from kit.submit import PARTITIONS, Spark

JOB = "cluster/aggregation_job.py"


def test_counts_survive_a_restart_on_two_executors(spark: Spark, tmp_path: Path) -> None:
    source, checkpoint, output = (tmp_path / name for name in ("in", "checkpoint", "out"))

    write_input(source, first=0)
    spark.run(JOB, source, checkpoint, output)
    assert rows_of(output) == expected(FILES)

    write_input(source, first=FILES)
    spark.run(JOB, source, checkpoint, output)
    assert rows_of(output) == expected(2 * FILES)

    [operator] = keyfold.open_checkpoint(checkpoint).describe().operators
    assert operator.partitions == PARTITIONS
    assert operator.rows == KEYS


def test_counts_survive_an_executor_killed_before_its_commit_fault_4(
    spark: Spark, tmp_path: Path
) -> None:
    source, checkpoint, output = (tmp_path / name for name in ("in", "checkpoint", "out"))
    marker = tmp_path / "killed"

    write_input(source, first=0)
    log = spark.run(JOB, source, checkpoint, output, marker)
    assert marker.exists()
    assert "ExecutorLostFailure" in log
    assert rows_of(output) == expected(FILES)

    description = keyfold.open_checkpoint(checkpoint).describe()
    assert description.problems == ()
    assert description.rows == KEYS
