"""A Spark application with a query of each kind, and what it takes."""

import os
import shlex
import time
from pathlib import Path
from typing import Any

from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

import keyfold
from kit import queries
from kit.places import TEST_CLASSES
from kit.providers import ROCKSDB
from soak import bounded
from soak.kinds import KINDS, Kind, Said
from soak.stream import ROWS_PER_SECOND, streams
from soak.usage import below, files, usage

POLL_S = 0.2
# Spark gives Python 10 s to start, which on a busy machine may not do.
NOT_ANSWERED, ATTEMPTS = "Python worker failed to connect back", 5
STREAMING = "spark.sql.streaming"
PROVIDERS = {"rocksdb": ROCKSDB}
# Small, so that a file is written, taken over by a snapshot and deleted within a minute; and what
# Spark itself keeps of the past is full soon.
SETTINGS = {
    "spark.master": "local[4]",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraClassPath": TEST_CLASSES,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "100",
    "spark.sql.ui.retainedExecutions": "20",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    f"{STREAMING}.numRecentProgressUpdates": "5",
    f"{STREAMING}.minBatchesToRetain": "3",
    f"{STREAMING}.stateStore.minDeltasForSnapshot": "5",
    f"{STREAMING}.stateStore.maintenanceInterval": "2s",
}
# The heap is taken from the start, so that what grows is not that, and each collection is whole.
JAVA = "-Xms1g -XX:+AlwaysPreTouch -XX:+UseSerialGC -XX:MarkSweepAlwaysCompactCount=1"


class Application:
    """Its queries, and what each has said."""

    def __init__(self, folder: Path, provider: str | None, only: str) -> None:
        """Starts Spark and all queries, whose checkpoints are below `folder`."""
        options = ["--driver-memory", "1g", "--driver-java-options", JAVA]
        os.environ["PYSPARK_SUBMIT_ARGS"] = shlex.join([*options, "pyspark-shell"])
        local = {"spark.local.dir": str(folder / "local")}
        builder = keyfold.configure(SparkSession.builder.config(map=SETTINGS | local))
        if provider is not None:
            builder.config(f"{STREAMING}.stateStore.providerClass", PROVIDERS[provider])
        self._spark = builder.getOrCreate()
        self._spark.sparkContext.setLogLevel("ERROR")
        for module in (queries, bounded):
            register_pickle_by_value(module)
        self._folder = folder / "checkpoints"
        self._kinds = [it for it in KINDS if only in it.name]
        self._said = {it.name: Said() for it in self._kinds}
        self._queries = {it.name: self._started_well(it) for it in self._kinds}
        self._started = time.monotonic()

    def _started_well(self, kind: Kind) -> StreamingQuery:
        """The query, once it has ended a batch: the next then starts its Python alone."""
        for attempt in range(1, ATTEMPTS + 1):
            query = self._start(kind)
            while query.isActive and query.lastProgress is None:
                time.sleep(POLL_S)
            error = query.exception()
            if error is None:
                return query
            if NOT_ANSWERED not in str(error) or attempt == ATTEMPTS:
                raise error
        raise AssertionError

    def _start(self, kind: Kind) -> StreamingQuery:
        said = self._said[kind.name]

        def take(batch: DataFrame, _number: int) -> None:
            for row in batch.collect():
                said.rows += 1
                kind.take(said, tuple(row))

        return (
            kind.question(streams(self._spark.newSession()))
            .writeStream.outputMode(kind.mode)
            .foreachBatch(take)
            .option("checkpointLocation", str(self._checkpoint(kind)))
            .trigger(processingTime="2 seconds")
            .start()
        )

    def _checkpoint(self, kind: Kind) -> Path:
        return self._folder / kind.name.replace(" ", "-").replace(",", "")

    def sample(self) -> dict[str, int]:
        """What all take now; raises what a query has ended with."""
        for query in self._queries.values():
            if (error := query.exception()) is not None:
                raise error
        jvm: Any = self._spark._jvm
        jvm.System.gc()
        beans = jvm.java.lang.management.ManagementFactory
        process = int(jvm.java.lang.ProcessHandle.current().pid())
        of_jvm, of_python = usage(process), below(process)
        all_files, state_files = files(self._folder)
        progress = [it for it in (q.lastProgress for q in self._queries.values()) if it]
        operators = [operator for it in progress for operator in it["stateOperators"]]
        return {
            "seconds": int(time.monotonic() - self._started),
            "batches": sum(it["batchId"] + 1 for it in progress),
            "rows of state": sum(it["numRowsTotal"] for it in operators),
            "state off heap": sum(
                it["customMetrics"].get("keyfoldOffHeapBytes", 0) for it in operators
            ),
            "resident": of_jvm.resident,
            "heap": int(beans.getMemoryMXBean().getHeapMemoryUsage().getUsed()),
            "outside heap": int(beans.getMemoryMXBean().getNonHeapMemoryUsage().getUsed()),
            "classes": int(beans.getClassLoadingMXBean().getLoadedClassCount()),
            "handles": of_jvm.handles,
            "threads": of_jvm.threads,
            "mappings": of_jvm.mappings,
            "Python processes": len(of_python),
            "Python resident": sum(it.resident for it in of_python),
            "Python handles": sum(it.handles for it in of_python),
            "state files": state_files,
            "files": all_files,
        }

    def end(self, *, deep: bool) -> list[str]:
        """Stops all queries; what is wrong with what they have said and with their state."""
        found = []
        for kind in self._kinds:
            query, said = self._queries[kind.name], self._said[kind.name]
            query.stop()
            progress = query.lastProgress
            read = int(progress["sources"][0]["endOffset"]) * ROWS_PER_SECOND
            problems = [kind.problem(said, read), *map(str, said.wrong[:3])]
            if deep:
                report = keyfold.open_checkpoint(str(self._checkpoint(kind))).fsck(deep=True)
                problems += [it.message for it in report.findings if it.is_damage]
            found += [f"{kind.name}: {it}" for it in problems if it]
            print(f"{kind.name}: {progress['batchId'] + 1} batches, {read} rows read", flush=True)
        return found

    def stop(self) -> None:
        """Stops Spark, so that nobody writes to the folder any more."""
        self._spark.stop()
