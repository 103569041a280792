"""Nodes of an HDFS that are stopped and started under a query."""

from contextlib import closing
from pathlib import Path

import pytest

import keyfold
from cluster.repeated_rows import expected, write_end, write_files, written
from kit.checkpoint_place import on_hdfs
from kit.kill_moment import last_batch
from kit.servers.hdfs import DATA_NODES, Hdfs
from kit.submit import Spark

# More batches than there are until all nodes have been restarted.
FILES = 40
CONF = {
    "spark.sql.shuffle.partitions": 2,
    "spark.sql.streaming.minBatchesToRetain": 2,
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": 2,
    "spark.sql.streaming.stateStore.maintenanceInterval": "100ms",
}


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_query_goes_on_when_data_nodes_and_the_name_node_are_restarted_fault_12(
    tmp_path: Path,
) -> None:
    source, output = tmp_path / "in", tmp_path / "out"
    write_files(source, 0, FILES - 1)
    write_end(source, FILES)
    with (
        closing(Hdfs(tmp_path / "hdfs")) as hdfs,
        closing(Spark(tmp_path, master="local[2]")) as spark,
    ):
        checkpoint = on_hdfs(hdfs, tmp_path)
        job = ("cluster/windows_job.py", source, checkpoint.url, output)
        query = spark.start(*job, conf=CONF)

        def wait_for_batches(number: int) -> None:
            wanted = last_batch(checkpoint.files, "commits") + number
            query.wait_until(
                lambda: last_batch(checkpoint.files, "commits") >= wanted, f"batch {wanted}"
            )

        wait_for_batches(2)
        for node in range(DATA_NODES):
            hdfs.stop_data_node(node)
            wait_for_batches(2)
            hdfs.start_data_node(node)
        hdfs.restart_name_node()
        wait_for_batches(2)
        assert query.wait() == 0, query.end_of_log

        batches = range(last_batch(checkpoint.files, "commits") + 1)
        assert len(batches) >= FILES
        assert written(output, batches) == expected(FILES)
        findings = keyfold.open_checkpoint(checkpoint.uri).fsck(deep=True).findings
        assert not [it for it in findings if it.is_damage]
