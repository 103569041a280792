"""A driver killed again and again on one checkpoint, at moments drawn from seeds."""

import os
import signal
import time
from pathlib import Path

import pytest

import keyfold
from cluster.repeated_rows import expected, write_end, write_files, written
from kit.checkpoint_place import HDFS, LOCAL, S3, CheckpointPlace
from kit.kill_moment import KillMoment, last_batch
from kit.submit import PARTITIONS, Spark

KILLS = int(os.environ.get("KEYFOLD_KILLS", "2"))
SERVER_KILLS = int(os.environ.get("KEYFOLD_SERVER_KILLS", "1"))
FIRST_SEED = int(os.environ.get("KEYFOLD_SEED", "1"))
# More than any moment waits for, so that a run is killed before it has read them all.
FILES_AHEAD = 12
# Snapshots and clean-up come within a few batches, so that kills hit them too.
CONF = {
    "spark.sql.streaming.minBatchesToRetain": 2,
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": 2,
    "spark.sql.streaming.stateStore.maintenanceInterval": "100ms",
}


@pytest.mark.timeout(600 + 60 * KILLS)
@pytest.mark.parametrize(
    ("checkpoint", "kills"),
    [
        (LOCAL, KILLS),
        pytest.param(S3, SERVER_KILLS, marks=pytest.mark.long),
        pytest.param(HDFS, SERVER_KILLS, marks=pytest.mark.long),
    ],
    indirect=["checkpoint"],
)
def test_no_row_is_lost_or_counted_twice_by_a_driver_killed_again_and_again_fault_4(
    spark: Spark, tmp_path: Path, checkpoint: CheckpointPlace, kills: int
) -> None:
    source, output = tmp_path / "in", tmp_path / "out"
    job = ("cluster/windows_job.py", source, checkpoint.url, output)
    conf = {**CONF, **checkpoint.conf}
    files = 0
    within_batch = 0
    for seed in range(FIRST_SEED, FIRST_SEED + kills):
        committed = last_batch(checkpoint.files, "commits")
        # Batch n reads file n.
        write_files(source, files, committed + FILES_AHEAD)
        files = committed + FILES_AHEAD + 1
        moment = KillMoment(seed, checkpoint.files, PARTITIONS)
        driver = spark.start(*job, conf=conf)
        driver.wait_until(moment.has_come, str(moment))
        time.sleep(moment.delay_ms / 1000)
        if moment.driver_only:
            driver.kill_alone()
        else:
            driver.kill()
        assert driver.wait() == -signal.SIGKILL, f"{moment} came late. {driver.end_of_log}"
        within_batch += last_batch(checkpoint.files, "offsets") > last_batch(
            checkpoint.files, "commits"
        )

        assert last_batch(checkpoint.files, "commits") >= committed, str(moment)
        assert keyfold.open_checkpoint(checkpoint.uri).describe().problems == (), str(moment)
        so_far = written(output, range(last_batch(checkpoint.files, "commits") + 1))
        assert len(set(so_far)) == len(so_far), str(moment)
        assert set(so_far) <= set(expected(files)), str(moment)

    assert within_batch > 0 or kills < 10
    write_end(source, files)
    spark.run(*job, conf=conf)
    assert written(output, range(last_batch(checkpoint.files, "commits") + 1)) == expected(files)

    description = keyfold.open_checkpoint(checkpoint.uri).describe()
    assert description.problems == ()
    # All state has been let go but that of the end's own row.
    assert [operator.rows for operator in description.operators] == [1, 1]
