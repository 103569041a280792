"""A log is read by subtasks whose number changes, while drivers are killed: each record once."""

import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from kit.submit import Spark

JOB = "cluster/partitioned_log_job.py"
RECORDS = 1_000_000
SEED = int(os.environ.get("KEYFOLD_SEED", "1"))
PARTITIONS = 12
BATCHES = 24
PARALLELISMS = (2, 3, 12, 5, 1, 4)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_no_record_is_lost_or_read_twice_over_five_changes_and_five_kills(
    spark: Spark, tmp_path: Path
) -> None:
    random = np.random.default_rng(SEED)
    records = random.permutation(RECORDS).astype(np.int64)
    for name in ("log", "ticks"):
        (tmp_path / name).mkdir()
    for partition in range(PARTITIONS):
        records[records % PARTITIONS == partition].tofile(tmp_path / f"log/{partition}.log")
    for batch in range(BATCHES):
        (tmp_path / f"ticks/{batch}.json").write_text(json.dumps({"tick": batch}))
    # The last of them find nothing more.
    per_batch = RECORDS // PARTITIONS // (BATCHES - 2) + 1

    def arguments(parallelism: int) -> tuple[str, ...]:
        return (str(tmp_path), *map(str, (parallelism, PARTITIONS, per_batch)))

    refused = spark.start(JOB, *arguments(PARTITIONS + 1))
    assert refused.wait() != 0
    assert "12 partitions, and 13 subtasks" in refused.log
    assert not (tmp_path / "checkpoint").exists()

    killed = 0
    for number, parallelism in enumerate(PARALLELISMS[:-1]):
        driver = spark.start(JOB, *arguments(parallelism))
        goal = tmp_path / f"checkpoint/commits/{3 * number + 1}"
        driver.wait_until(goal.exists, f"the commit of batch {goal.name}")
        time.sleep(random.random())
        driver.kill()
        assert driver.wait() == -signal.SIGKILL
        killed += 1
    spark.run(JOB, *arguments(PARALLELISMS[-1]))

    assert killed == len(PARALLELISMS) - 1
    batches = [pq.read_table(tmp_path / f"out/{batch}") for batch in range(BATCHES)]
    read = np.concatenate([it["record"].to_numpy() for it in batches])
    assert np.array_equal(np.sort(read), np.arange(RECORDS))
