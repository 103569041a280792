"""A query in a process of its own, in a cgroup with so much memory."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from rich.console import Console

import keyfold
from bench.bigstate.cgroup import Cgroup
from bench.bigstate.query import Job
from bench.nexmark.stores import BENCH_CLASSES, NOTHING
from bench.nexmark.stores import STORES as COMPARED
from bench.states import PROVIDERS
from keyfold.settings import (
    EXTENSIONS_CLASS,
    EXTENSIONS_KEY,
    MEMORY_KEY,
    PROVIDER_KEY,
    QUERY_SETTINGS,
)

BUDGET: Final = 256 << 20
LIMIT: Final = 2 << 30
ROCKS: Final = "spark.sql.streaming.stateStore.rocksdb"
OURS: Final = "Keyfold"
STORES: Final = {
    OURS: {
        **QUERY_SETTINGS,
        EXTENSIONS_KEY: EXTENSIONS_CLASS,
        MEMORY_KEY: str(BUDGET),
    },
    "RocksDB": {PROVIDER_KEY: PROVIDERS["RocksDB"]},
    "RocksDB, bounded": {
        PROVIDER_KEY: PROVIDERS["RocksDB"],
        f"{ROCKS}.boundedMemoryUsage": "true",
        f"{ROCKS}.maxMemoryUsageMB": str(BUDGET >> 20),
    },
    NOTHING: COMPARED[NOTHING],
}
PARTITIONS: Final = 4
console = Console(stderr=True)


class QueryFailedError(Exception):
    """A query has ended with an error."""


def settings(store: str, folder: Path) -> dict[str, str]:
    """Settings of a session: one JVM of 1 GB of heap, two cores."""
    return {
        "spark.master": "local[2]",
        "spark.driver.memory": "1g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraClassPath": f"{keyfold.jar_path()}:{BENCH_CLASSES}",
        "spark.local.dir": str(folder / "local"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(PARTITIONS),
        f"{ROCKS}.changelogCheckpointing.enabled": "true",
        **STORES[store],
    }


def batches(store: str, job: Job, group: Cgroup) -> Iterator[dict[str, Any]]:
    """Run a query in the group, and give what it says of each batch.

    Raises QueryFailedError if it ends with an error.
    """
    command = [sys.executable, "-m", "bench.bigstate.query", json.dumps(asdict(job))]
    with subprocess.Popen(  # noqa: S603
        command,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=group.enter,  # noqa: PLW1509
    ) as process:
        for line in process.stdout or ():
            batch = json.loads(line)
            console.print(store, batch, soft_wrap=True)
            yield batch
    if process.returncode != 0:
        raise QueryFailedError(store)
