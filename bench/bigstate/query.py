"""Run a count in this process, and print a line for each batch.

Usage: python -m bench.bigstate.query JOB, which is a `Job` in JSON.
"""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from bench.places.query import say

POLL_S: Final = 0.02


@dataclass(frozen=True)
class Job:
    """A count of `keys` keys by so many more `batches` of `rows` rows.

    Each key comes once, and then keys at random follow. From the row `evenly` on the key of rank r
    comes with a probability of 1/r.
    """

    settings: dict[str, str]
    checkpoint: str
    rows: int
    keys: int
    evenly: int
    batches: int

    @property
    def key(self) -> str:
        """The key of a row, in SQL."""
        chance = f"pmod(xxhash64(value), {self.keys}) / {self.keys}.0D"
        evenly = f"cast({self.keys} * {chance} as bigint)"
        skewed = f"cast(pow({self.keys}, {chance}) as bigint)"
        later = f"if(value < {self.evenly}, {evenly}, {skewed})"
        # Scattered, so that keys that come often do not lie side by side.
        return f"if(value < {self.keys}, value, {later}) * 7368787 % {self.keys}"


def disk(pid: int) -> tuple[int, int]:
    """Bytes that a process has read from disks and written to them."""
    lines = (Path("/proc") / str(pid) / "io").read_text(encoding="ascii").splitlines()
    values = dict(line.split(": ") for line in lines)
    return int(values["read_bytes"]), int(values["write_bytes"])


def run(job: Job) -> None:
    """Print the milliseconds of each batch, and what the JVM has read and written meanwhile."""
    spark = SparkSession.builder.config(map=dict(job.settings)).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", job.rows)
    rows = source.option("numPartitions", 2).load().selectExpr(f"{job.key} AS key", "value")
    counts = rows.groupBy("key").agg({"value": "sum", "*": "count"})
    writing = counts.writeStream.format("noop").outputMode("update")
    pid = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]  # noqa: SLF001
    before, begun = disk(pid), time.monotonic()
    query = writing.option("checkpointLocation", job.checkpoint).start()
    seen, batches = -1, 0
    while batches < job.batches:
        if not query.isActive:
            raise SystemExit(str(query.exception()))
        time.sleep(POLL_S)
        # All progress would take long to ask for.
        last = query._jsq.lastProgress()  # noqa: SLF001
        if last is None or last.batchId() == seen:
            continue
        progress, now = json.loads(last.json()), disk(pid)
        seen, batches = progress["batchId"], batches + 1
        line = {
            "batch": seen,
            "s_since_start": time.monotonic() - begun,
            "ms": progress["durationMs"]["triggerExecution"],
            "rows": progress["stateOperators"][0]["numRowsTotal"],
            "read": now[0] - before[0],
            "written": now[1] - before[1],
        }
        before = now
        say(json.dumps(line))
    query.stop()


if __name__ == "__main__":
    run(Job(**json.loads(sys.argv[1])))
