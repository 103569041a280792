"""Two drivers at once on one checkpoint: one loses, and what it wrote does not count."""

from pathlib import Path

import pytest

import keyfold
from cluster.keyed_values import KEYS, expected, rows_of, write_input
from kit.program import Program
from kit.submit import PARTITIONS, Spark

JOB = "cluster/concurrent_drivers_job.py"
FILES = 6
# Maintenance of both has a snapshot to write after every batch.
CONF = {
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": 1,
    "spark.sql.streaming.stateStore.maintenanceInterval": "100ms",
}


@pytest.mark.timeout(900)
def test_of_two_drivers_the_second_to_commit_dies_and_its_state_does_not_count_fault_13(
    spark: Spark, tmp_path: Path
) -> None:
    source, checkpoint = tmp_path / "in", tmp_path / "checkpoint"
    write_input(source, first=0, files=FILES)

    def start_until_it_waits(name: str) -> Program:
        """Starts a driver with an output of its own; it has then written the state of batch 1."""
        waits = tmp_path / name
        driver = spark.start(JOB, source, checkpoint, tmp_path / f"out-{name}", waits, conf=CONF)
        driver.wait_until(waits.exists, f"batch 1 of the {name} driver")
        return driver

    # Nobody has told the old driver that it was given up; both are at the end of the same batch.
    commit = checkpoint / "commits" / "1"
    old = start_until_it_waits("old")
    of_old = ids_of_version_2(checkpoint)
    new = start_until_it_waits("new")
    of_new = ids_of_version_2(checkpoint) - of_old
    assert len(of_old) == len(of_new) == PARTITIONS

    (tmp_path / "new").unlink()
    new.wait_until(commit.exists, "the new driver's commit of batch 1")
    (tmp_path / "old").unlink()
    assert old.wait() != 0
    assert "CONCURRENT_STREAM_LOG_UPDATE" in old.log
    assert new.wait() == 0, new.end_of_log

    committed = {unique for unique in of_old | of_new if unique in commit.read_text()}
    assert committed == of_new
    assert rows_of(tmp_path / "out-new") == expected(FILES)
    description = keyfold.open_checkpoint(checkpoint).describe()
    assert description.problems == ()
    assert description.last_batch == FILES - 1
    assert description.rows == KEYS


def ids_of_version_2(checkpoint: Path) -> set[str]:
    """Ids of the deltas of batch 1, of all partitions."""
    names = [file.name for file in checkpoint.glob("state/0/*/2_*.delta")]
    return {name.removeprefix("2_").removesuffix(".delta") for name in names}
