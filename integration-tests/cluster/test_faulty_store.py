"""Queries on an S3 server that is slow, refuses, resets, loses answers and hangs, by a seed."""

import os
import re
from contextlib import closing
from pathlib import Path

import pytest

import keyfold
from cluster.repeated_rows import expected, write_end, write_files, written
from keyfold.admin.vacuum import vacuum
from keyfold.fsck.finding import Kind
from kit.servers import s3
from kit.servers.client import S3Client
from kit.servers.faults import Faults
from kit.servers.proxy import Proxy
from kit.servers.s3 import S3Server
from kit.servers.s3_request import place_of
from kit.session import session
from kit.submit import Spark

RUNS = int(os.environ.get("KEYFOLD_FAULTY_RUNS", "5"))
FIRST_SEED = int(os.environ.get("KEYFOLD_SEED", "1"))
FILES = 6
PARTITIONS = 2
FAULTS = Faults(
    slow_down=0.02,
    internal_error=0.02,
    conflict=0.05,
    reset=0.02,
    lost_answer=0.03,
    hang=0.01,
    hang_s=1,
)
CONF = {
    "spark.sql.shuffle.partitions": PARTITIONS,
    "spark.sql.streaming.minBatchesToRetain": 2,
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": 2,
    "spark.sql.streaming.stateStore.maintenanceInterval": "100ms",
    # So that clients give up what hangs, and it is done all the same.
    "spark.hadoop.fs.s3a.connection.request.timeout": "500ms",
}
# What Spark and Keyfold write to a checkpoint; anything else is to be named by fsck.
EXPECTED = re.compile(
    r"metadata|(offsets|commits)/\d+|sources/\d+/\d+(\.compact)?"
    r"|state/\d+/(\d+/)?_metadata/.*|state/\d+/\d+/\d+(_[^.]+)?\.(delta|snapshot|\d+\.merged)"
)


def seed_and_place(key: str) -> str:
    """Each query, named by its seed, has faults of its own."""
    return f"{key.partition('/')[0]} {place_of(key)}"


@pytest.mark.long
@pytest.mark.timeout(300 + 60 * RUNS)
def test_every_batch_is_exact_on_a_faulty_store_and_all_can_be_read_fault_12(
    tmp_path: Path,
) -> None:
    source, output = tmp_path / "in", tmp_path / "out"
    write_files(source, 0, FILES - 1)
    write_end(source, FILES)
    seeds = [str(it) for it in range(FIRST_SEED, FIRST_SEED + RUNS)]
    with (
        closing(S3Server(tmp_path)) as server,
        closing(Proxy(server.port, place=seed_and_place)) as proxy,
        closing(Spark(tmp_path, master="local[2]")) as spark,
    ):
        proxy.faults = FAULTS
        queries = [it for seed in seeds for it in (s3.spark_url(seed), output / seed)]
        conf = {**CONF, **s3.spark_conf(proxy.port)}
        timeout_s = 240 + 60 * RUNS
        job = ("cluster/windows_job.py", source, *queries)
        said = spark.run(*job, conf=conf, timeout_s=timeout_s)
        [retries] = re.findall(r"^keyfoldFileRetries (\d+)$", said, re.MULTILINE)
        assert int(retries) > 0

        named_of = {}
        for seed in seeds:
            batches = [int(it.name) for it in (server.bucket / seed / "commits").iterdir()]
            found = written(output / seed, range(max(batches) + 1))
            assert found == expected(FILES), f"seed {seed}"
            findings = keyfold.open_checkpoint(s3.keyfold_uri(seed, server.port)).fsck(deep=True)
            assert not [it for it in findings.findings if it.is_damage], f"seed {seed}: {findings}"
            named = [it.path for it in findings.findings]
            orphans = (it.path for it in findings.findings if it.kind is Kind.UNREFERENCED)
            named_of[seed] = {it.rpartition(f"/{seed}/")[2] for it in orphans}
            objects = (it for it in (server.bucket / seed).rglob("*") if it.is_file())
            left = [str(it.relative_to(server.bucket / seed)) for it in objects]
            unnamed = [
                it for it in left if not EXPECTED.fullmatch(it) and not any(it in n for n in named)
            ]
            assert unnamed == [], f"seed {seed}"
        with closing(S3Client(server.port)) as client:
            assert b"<Upload>" not in client.request("GET", query={"uploads": ""})[1]
        with session(tmp_path, s3.spark_conf(server.port)):
            for seed, orphans in named_of.items():
                done = vacuum(s3.spark_url(seed), orphans, older_than_hours=0, dry_run=False)
                rest = {it for it in orphans if (server.bucket / seed / it).exists()}
                assert rest == orphans - {it.path for it in done.unreferenced}, f"seed {seed}"
                checked = keyfold.open_checkpoint(s3.keyfold_uri(seed, server.port)).fsck(deep=True)
                left = [it for it in checked.findings if it.kind is Kind.UNREFERENCED]
                assert len(left) == len(rest), f"seed {seed}: {checked}"
        assert {"slow_down", "internal_error", "reset", "lost_answer"} <= set(proxy.happened)
