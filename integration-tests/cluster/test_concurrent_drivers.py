"""Two drivers at once on one checkpoint: one loses, and what it wrote does not count."""

import os
import random
import re
import time
from contextlib import closing
from pathlib import Path

import pytest

import keyfold
from cluster.keyed_values import KEYS, expected, rows_of, write_input
from kit.checkpoint_place import HDFS, LOCAL, S3, CheckpointPlace, Folder
from kit.kill_moment import state_files
from kit.program import Program
from kit.submit import PARTITIONS, Spark

JOB = "cluster/concurrent_drivers_job.py"
FILES = 6
RACES = int(os.environ.get("KEYFOLD_RACES", "2"))
# What Spark says where it finds another's entry, and where the file system refuses its own.
AT_THE_LOG = "CONCURRENT_STREAM_LOG_UPDATE|Multiple streaming queries are concurrently using"
# Maintenance of both has a snapshot to write after every batch.
CONF = {
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": 1,
    "spark.sql.streaming.stateStore.maintenanceInterval": "100ms",
}


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "checkpoint",
    [LOCAL, *(pytest.param(it, marks=pytest.mark.long) for it in (S3, HDFS))],
    indirect=True,
)
def test_of_two_drivers_the_second_to_commit_dies_and_its_state_does_not_count_fault_13(
    spark: Spark, tmp_path: Path, checkpoint: CheckpointPlace
) -> None:
    source = tmp_path / "in"
    conf = {**CONF, **checkpoint.conf}
    write_input(source, first=0, files=FILES)

    def start_until_it_waits(name: str) -> Program:
        """Starts a driver with an output of its own; it has then written the state of batch 1."""
        waits = tmp_path / name
        output = tmp_path / f"out-{name}"
        driver = spark.start(JOB, source, checkpoint.url, output, waits, conf=conf)
        driver.wait_until(waits.exists, f"batch 1 of the {name} driver")
        return driver

    # Nobody has told the old driver that it was given up; both are at the end of the same batch.
    commit = checkpoint.files / "commits" / "1"
    old = start_until_it_waits("old")
    of_old = ids_of_version_2(checkpoint.files)
    new = start_until_it_waits("new")
    of_new = ids_of_version_2(checkpoint.files) - of_old
    assert len(of_old) == len(of_new) == PARTITIONS

    (tmp_path / "new").unlink()
    new.wait_until(commit.exists, "the new driver's commit of batch 1")
    (tmp_path / "old").unlink()
    assert old.wait() != 0
    assert re.search(AT_THE_LOG, old.log), old.end_of_log
    assert new.wait() == 0, new.end_of_log

    committed = {unique for unique in of_old | of_new if unique in commit.read_text()}
    assert committed == of_new
    assert rows_of(tmp_path / "out-new") == expected(FILES)
    description = keyfold.open_checkpoint(checkpoint.uri).describe()
    assert description.problems == ()
    assert description.last_batch == FILES - 1
    assert description.rows == KEYS


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("checkpoint", [S3], indirect=True)
@pytest.mark.parametrize("seed", range(1, RACES + 1))
def test_of_two_drivers_that_commit_at_once_one_dies_at_the_log_fault_13(
    tmp_path: Path, checkpoint: CheckpointPlace, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - to be repeated, not to be secret
    source = tmp_path / "in"
    conf = {**CONF, **checkpoint.conf}
    write_input(source, first=0, files=FILES)
    names = ["old", "new"]
    with closing(Spark(tmp_path, master="local[1]")) as spark:
        drivers = {}
        for name in names:
            job = (JOB, source, checkpoint.url, tmp_path / f"out-{name}", tmp_path / name)
            drivers[name] = spark.start(*job, conf=conf)
            # One after the other, or one of them dies in batch 0.
            drivers[name].wait_until((tmp_path / name).exists, f"batch 1 of driver {name}")
        for name in chance.sample(names, 2):
            (tmp_path / name).unlink()
            time.sleep(chance.choice([0, 0.02 * chance.random()]))
        codes = {name: driver.wait() for name, driver in drivers.items()}

    [winner] = [name for name, code in codes.items() if code == 0]
    [loser] = [name for name, code in codes.items() if code != 0]
    assert re.search(AT_THE_LOG, drivers[loser].log), drivers[loser].end_of_log
    assert rows_of(tmp_path / f"out-{winner}") == expected(FILES)
    description = keyfold.open_checkpoint(checkpoint.uri).describe()
    assert description.problems == ()
    assert description.last_batch == FILES - 1
    assert description.rows == KEYS


def ids_of_version_2(checkpoint: Folder) -> set[str]:
    """Ids of the deltas of batch 1, of all partitions."""
    stores = [checkpoint / "state" / "0" / str(it) for it in range(PARTITIONS)]
    names = {name for store in stores for name in state_files(store)}
    deltas = {name for name in names if name.startswith("2_") and name.endswith(".delta")}
    return {name.removeprefix("2_").removesuffix(".delta") for name in deltas}
