"""Run the count with each provider in a container of a size, and print what became of it."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from rich.console import Console

import keyfold
from bench.revision import revision
from bench.yarn.executors import Watched
from keyfold.settings import (
    EXTENSIONS_CLASS,
    EXTENSIONS_KEY,
    JARS_KEY,
    MEMORY_KEY,
    PROVIDER_KEY,
    QUERY_SETTINGS,
)
from kit.installation import HERE
from kit.program import environment_of, home_in
from kit.providers import ROCKSDB
from kit.servers.yarn import Yarn

KEYS, ROWS, BATCHES = 14_000_000, 500_000, 40
LIMIT_S = 600
LAST = 10
HEAP = "512m"
KILLED = re.compile(
    r"Lost executor \d+ on .*: Container killed by YARN for exceeding physical memory"
)
CHANGELOG_KEY = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
BATCH = re.compile(r"^batch (\d+) (\d+) (\d+) (\d+)$", re.MULTILINE)
KEYFOLD = {
    **QUERY_SETTINGS,
    EXTENSIONS_KEY: EXTENSIONS_CLASS,
    JARS_KEY: str(keyfold.jar_path()),
}
SETTINGS = {
    "spark.executor.instances": "1",
    "spark.executor.cores": "2",
    "spark.executor.memory": HEAP,
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.streaming.stateStore.maintenanceInterval": "10s",
    "spark.executor.maxNumFailures": "9",
    "spark.ui.enabled": "false",
}


@dataclass(frozen=True)
class Cell:
    """An executor whose container has `overhead_mb` beside a heap of `HEAP`."""

    name: str
    overhead_mb: int
    settings: dict[str, str] = field(repr=False)
    # After so many batches its executor is killed from outside.
    kill_at: tuple[int, ...] = ()


CELLS = (
    Cell("Keyfold, its default budget", 384, KEYFOLD),
    Cell("Keyfold, its executor killed three times", 384, KEYFOLD, kill_at=(20, 28, 34)),
    Cell("RocksDB", 384, {PROVIDER_KEY: ROCKSDB, CHANGELOG_KEY: "true"}),
    Cell("Keyfold, a budget for all state", 1536, {**KEYFOLD, MEMORY_KEY: "1200m"}),
)


def run(cell: Cell, yarn: Yarn, folder: Path) -> tuple[str, Watched]:
    """What the driver says until the count has ended, or its time, and what executors take."""
    overhead = {"spark.executor.memoryOverhead": f"{cell.overhead_mb}m"}
    conf = {**SETTINGS, **yarn.conf(HERE.spark), **overhead, **cell.settings}
    home = home_in(folder)
    command = [str(home / "bin" / "spark-submit"), "--master", "yarn"]
    command += [it for key, value in conf.items() for it in ("--conf", f"{key}={value}")]
    command += [str(Path(__file__).with_name("count.py")), *map(str, (KEYS, ROWS, BATCHES))]
    environment = environment_of(home) | {"HADOOP_CONF_DIR": yarn.address}
    log = folder / "driver.log"
    with log.open("w") as said, closing(Watched(log, BATCH, cell.kill_at)) as watched:
        program = subprocess.Popen(  # noqa: S603 - our own
            command,
            env={**environment, "SPARK_LOCAL_IP": "127.0.0.1"},
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            program.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, 15)
            program.wait()
    return log.read_text(errors="replace"), watched


def rows() -> Iterator[str]:
    """A line of the table for each cell."""
    for cell in CELLS:
        with (
            tempfile.TemporaryDirectory(prefix="keyfold-bench-") as folder,
            closing(Yarn(Path(folder) / "yarn")) as yarn,
        ):
            log, watched = run(cell, yarn, Path(folder))
        took = (*figures(log), f"{watched.most_bytes >> 20:,} MiB", f"{watched.kills}")
        yield f"| {cell.name} | {cell.overhead_mb} MiB | {' | '.join(took)} |"


def figures(log: str) -> tuple[str, ...]:
    """Of a driver's log: batches, the last one's keys and state, milliseconds, and kills."""
    batches = [tuple(map(int, it)) for it in BATCH.findall(log)]
    *_, (_, _, keys, size) = batches
    took = median(it[1] for it in batches[-LAST:])
    first = KILLED.search(log)
    said = "0"
    if first:
        [*_, (_, _, alive, _)] = BATCH.findall(log[: first.start()])
        said = f"{len(KILLED.findall(log))}, the first at {int(alive):,} keys"
    return f"{len(batches)}", f"{keys:,}", f"{size >> 20:,} MiB", f"{took:,.0f}", said


def main() -> None:
    """Print the table."""
    console = Console()
    console.print(f"{KEYS:,} keys, batches of {ROWS:,} rows, {revision()}", soft_wrap=True)
    console.print(
        "| provider | overhead | batches | keys | state | ms a batch | killed by YARN "
        "| resident, at most | killed by us |",
        soft_wrap=True,
    )
    console.print(f"| --- {'| ---: ' * 8}|")
    for row in rows():
        console.print(row, soft_wrap=True)


if __name__ == "__main__":
    main()
