"""A query that finds each number once, and what its sink has: for drivers that are killed."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from kit.kill_moment import last_batch
from kit.places import TEST_CLASSES
from kit.submit import Conf, Spark

# With these the driver's JVM ends at once, as by kill -9, before the commit of the batch named.
HALTING = {
    "spark.driver.extraClassPath": TEST_CLASSES,
    "spark.sql.streaming.checkpointFileManagerClass": "io.keyfold.spark.HaltingFileManager",
}
HALTS_BEFORE = "spark.keyfold.test.haltBeforeCommit"
# Of kills at random.
KILLS = int(os.environ.get("KEYFOLD_SINK_KILLS", "2"))
_FIRST_SEED = int(os.environ.get("KEYFOLD_SEED", "1"))
_STEP = 10


class KilledSink:
    """The query of cluster/sinks_job.py, with its input and output below `root`."""

    def __init__(self, root: Path, kind: str) -> None:
        self.kind = kind
        self.source, self.checkpoint, self.output = root / "in", root / "checkpoint", root / "out"
        self.source.mkdir()
        self.job = ("cluster/sinks_job.py", kind, self.source, self.checkpoint, self.output)
        self._files = 0

    def add(self, files: int) -> None:
        """Each has the numbers of those before it, so only who knows the state finds the new."""
        for _ in range(files):
            self._files += 1
            hidden = self.source / f".{self._files}"
            hidden.write_text("\n".join(map(str, self.expected())), encoding="utf-8")
            hidden.rename(self.source / f"{self._files:04}.csv")

    def expected(self) -> list[int]:
        """All numbers of the files."""
        return list(range(_STEP * self._files))

    @property
    def committed(self) -> int:
        """The newest batch that the query has committed; -1 before the first."""
        return last_batch(self.checkpoint, "commits")

    @property
    def batches(self) -> int:
        """The newest batch that the sink has; -1 before the first."""
        if self.kind == "files":
            return last_batch(self.output, "_spark_metadata")
        if self.kind == "delta":
            found = [it["txn"]["version"] for it in self._delta_log() if "txn" in it]
            return max(found, default=-1)
        if not self.output.exists():
            return -1
        with closing(sqlite3.connect(self.output)) as database:
            if not database.execute("select 1 from sqlite_master").fetchone():
                return -1
            (newest,) = database.execute("select max(batch) from batches").fetchone()
        return -1 if newest is None else int(newest)

    def rows(self) -> list[int]:
        """All that a reader of the sink finds, sorted."""
        if self.kind == "function":
            with closing(sqlite3.connect(self.output)) as database:
                return sorted(it for (it,) in database.execute("select number from numbers"))
        if self.kind == "delta":
            added = [it["add"]["path"] for it in self._delta_log() if "add" in it]
            tables = [pq.read_table(self.output / it) for it in added]
            return sorted(it for table in tables for it in table["number"].to_pylist())
        entries = (self.output / "_spark_metadata").glob("[0-9]*")
        lines = [line for it in entries for line in it.read_text("utf-8").splitlines()[1:]]
        names = {json.loads(line)["path"].removeprefix("file://") for line in lines}
        return sorted(int(it) for name in names for it in Path(name).read_text("utf-8").split())

    def kill_at_random(self, spark: Spark, conf: Conf | None = None) -> int:
        """Starts and kills drivers; how many have died between the two commits."""
        between = 0
        for seed in range(_FIRST_SEED, _FIRST_SEED + KILLS):
            chance = random.Random(seed)  # noqa: S311 - a seed repeats it
            more = chance.randint(1, 4)
            self.add(more + 1)
            newest = self.batches + more
            driver = spark.start(*self.job, conf=conf or {})
            driver.wait_until(lambda newest=newest: self.batches >= newest, f"batch {newest}")
            time.sleep(chance.choice([0, 0, chance.random() / 5]))
            driver.kill()
            driver.wait()
            between += self.batches > self.committed
        return between

    def _delta_log(self) -> Iterator[dict[str, Any]]:
        for entry in sorted((self.output / "_delta_log").glob("[0-9]*.json")):
            yield from map(json.loads, entry.read_text("utf-8").splitlines())
