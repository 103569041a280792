"""A copy on another file system, brought up to date while its query runs, and started from."""

from __future__ import annotations

import os
import time
from contextlib import closing
from pathlib import Path

import pytest

from cluster.repeated_rows import expected, write_end, write_files, written
from keyfold.admin.sync import sync
from kit.checkpoint_place import HDFS, LOCAL, S3, CheckpointPlace, checkpoint_place
from kit.files import files_in
from kit.kill_moment import last_batch
from kit.lines import EVERY_LINE
from kit.program import TIMEOUT_S
from kit.session import session
from kit.submit import Spark

JOB = "cluster/windows_job.py"
SECONDS = float(os.environ.get("KEYFOLD_SYNC_SECONDS", "20"))
EVERY_S = SECONDS / 12
# More than a query reads in that time.
FILES = int(4 * SECONDS)
# Snapshots and merged deltas come soon; nothing is deleted, so that what was written can be summed.
CONF = {
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": 2,
    "spark.sql.streaming.stateStore.maintenanceInterval": "1s",
    "spark.sql.streaming.minBatchesToRetain": 1000,
}


@pytest.mark.long
@pytest.mark.timeout(600 + 10 * SECONDS)
@pytest.mark.parametrize(
    ("kind", "kind_of_copy"),
    [(LOCAL, S3), (S3, HDFS), (HDFS, LOCAL)] if EVERY_LINE else [(LOCAL, S3)],
)
def test_a_killed_query_goes_on_from_the_copy_of_its_last_sync(
    tmp_path: Path, kind: str, kind_of_copy: str
) -> None:
    source, output, later = (tmp_path / name for name in ("in", "out", "later"))
    write_files(source, 0, FILES - 1)
    (here := tmp_path / "here").mkdir()
    (elsewhere := tmp_path / "elsewhere").mkdir()
    with (
        checkpoint_place(kind, here) as place,
        checkpoint_place(kind_of_copy, elsewhere) as copy,
        session(tmp_path, servers := {**place.conf, **copy.conf}) as own,
        closing(Spark(tmp_path, "local[2]")) as spark,
    ):
        conf = {**CONF, **servers}
        driver = spark.start(JOB, source, place.url, output, conf=conf)
        driver.wait_until(lambda: last_batch(place.files, "commits") > 0, "two batches")
        syncs = []
        end = time.monotonic() + SECONDS
        while (began := time.monotonic()) < end:
            syncs.append(sync(place.url, copy.url, spark=own))
            time.sleep(max(0.0, began + EVERY_S - time.monotonic()))
        driver.kill()

        wrote = bytes_of(place)
        copied = sum(it.bytes for it in syncs)
        batch = syncs[-1].batch
        print(  # noqa: T201 - what was measured
            f"{kind} to {kind_of_copy}: {len(syncs)} syncs, {batch + 1} batches, {copied:,} bytes "
            f"copied of {wrote:,} written, {[it.duration_ms for it in syncs]} ms"
        )
        assert len({it.batch for it in syncs}) > len(syncs) / 2
        assert copied <= 1.2 * wrote
        assert last_batch(copy.files, "commits") == batch

        write_end(source, FILES)
        spark.run(JOB, source, copy.url, later, conf=conf, timeout_s=TIMEOUT_S + 5 * SECONDS)
        last = last_batch(copy.files, "commits")
    rows = [*written(output, range(batch + 1)), *written(later, range(batch + 1, last + 1))]
    assert sorted(rows) == expected(FILES)


def bytes_of(place: CheckpointPlace) -> int:
    """Of the files of state and sources that are there."""
    folder = place.files if isinstance(place.files, Path) else Path(place.uri)
    found = {it.relative_to(folder): content for it, content in files_in(folder).items()}
    return sum(
        len(content)
        for path, content in found.items()
        if path.parts[0] in {"state", "sources"} and path.suffix != ".crc"
    )
