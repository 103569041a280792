"""A Spark that does what it is told: a command a line, and an answer for each.

Usage: python -m crash.job SETTINGS, a JSON object of Spark's settings.

Answers do not mix with what Spark says: the standard output is kept for them.
"""

import json
import os
import random
import shlex
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

import keyfold
from crash import processor, sinks
from crash.kinds import KINDS, Kind
from keyfold.admin import copies, rescale, rollback, vacuum
from kit import queries
from kit.queries.streams import streams, topics
from kit.queries.totals import Totals
from kit.reading import compare

WAIT_S = 200


class Job:
    """Answers commands, each a method with the arguments of the same names."""

    def __init__(self, settings: dict[str, str]) -> None:
        arguments: list[str] = []
        for it in ("extraJavaOptions", "extraClassPath"):
            # A JVM is started with these before it knows its settings.
            name = f"spark.driver.{it}"
            arguments += ["--conf", f"{name}={settings.pop(name)}"]
        arguments += ["--driver-memory", "1g", "pyspark-shell"]
        os.environ["PYSPARK_SUBMIT_ARGS"] = shlex.join(arguments)
        builder = SparkSession.builder.config(map=settings)
        self._spark = keyfold.configure(builder).getOrCreate()
        self._spark.sparkContext.setLogLevel("ERROR")
        self._query: StreamingQuery | None = None
        self._faults: Any = None
        self._chance = random.Random()
        for module in (queries, processor):
            register_pickle_by_value(module)

    def start(
        self,
        kind: str,
        totals: dict[str, Any],
        source: dict[str, str],
        sink: str,
        folder: str,
        checkpoint: str,
        settings: dict[str, str],
        fault_seed: int,
        one_in: int,
    ) -> None:
        """Starts a query, as `_question` makes it."""
        if one_in:
            faults = self._spark._jvm.io.keyfold.spark.ChanceFaults
            self._faults = faults(checkpoint, fault_seed, one_in)
            settings |= dict(self._faults.settings())
        asked, question = self._question(kind, totals, source, settings)
        self._query = sinks.start(question, sink, Path(folder), checkpoint, asked.mode)

    def read(self, sink: str, folder: str) -> list[list[Any]]:
        """All rows of a sink."""
        return sinks.read(self._spark, sink, Path(folder))

    def ended(self) -> bool:
        """Whether the query has ended."""
        return self._query is None or not self._query.isActive

    def stop(self) -> None:
        """Stops the query."""
        if self._query is not None:
            self._query.stop()

    def cancel(self) -> None:
        """Cancels what the query is doing."""
        self._spark.sparkContext.cancelAllJobs()

    def kill_task(self) -> int:
        """Kills a task that is running, if there is one, as Spark kills a loser of speculation."""
        context, interrupts = self._spark.sparkContext._jsc.sc(), True
        store = context.statusStore()
        running = []
        # A stage may end while it is looked at.
        with suppress(Py4JJavaError):
            stages = store.activeStages()
            for stage in map(stages.apply, range(stages.size())):
                tasks = store.taskList(stage.stageId(), stage.attemptId(), 100)
                its = map(tasks.apply, range(tasks.size()))
                running += [task.taskId() for task in its if task.status() == "RUNNING"]
        if not running:
            return 0
        return int(
            context.killTaskAttempt(self._chance.choice(running), interrupts, "killed by chance")
        )

    def wait(self) -> dict[str, Any]:
        """Waits until the query has ended: how it did, and the faults there were."""
        error = None
        try:
            if self._query is not None and not self._query.awaitTermination(WAIT_S):
                error = f"not ended in {WAIT_S} s"
        except Exception as failure:  # noqa: BLE001 - whoever asked judges it
            # With its causes: an interruption may be deep down.
            causes = getattr(failure, "_stackTrace", "")
            error = f"{type(failure).__name__}: {failure}\n{causes}"
        faults = dict(self._faults.end()) if self._faults is not None else {}
        self._query = self._faults = None
        return {"error": error, "faults": faults}

    def rescale(self, checkpoint: str, partitions: int) -> int:
        found = rescale.rescale(checkpoint, partitions, dry_run=False, spark=self._spark)
        return found.batch

    def plan_rollback(self, checkpoint: str, batch: int, sink: str, folder: str) -> str | None:
        """The SQL that takes the table of the sink back to a batch, if it is one and has to."""
        place = sinks.location(sink, Path(folder))
        plan = rollback.rollback(checkpoint, batch, sink_path=place, spark=self._spark)
        return plan.table.restore if plan.table else None

    def rollback(self, checkpoint: str, batch: int, sink: str, folder: str) -> str | None:
        place = sinks.location(sink, Path(folder))
        done = rollback.rollback(
            checkpoint, batch, dry_run=False, sink_path=place, spark=self._spark
        )
        return done.aside

    def take_back(self, batch: int, sink: str, folder: str, restore: str | None) -> None:
        """Takes out of a sink what batches after one have written, as its owner must."""
        if sink == sinks.DATABASE:
            sinks.take_back(Path(folder), batch)
        elif restore:
            sinks.restore(self._spark, Path(folder), restore)

    def undo_rollback(self, checkpoint: str, aside: str) -> None:
        rollback.undo_rollback(checkpoint, aside, spark=self._spark)

    def clone(self, checkpoint: str, to: str, batch: int | None) -> int:
        return copies.clone(checkpoint, to, batch=batch, spark=self._spark).batch

    def evolve(
        self,
        checkpoint: str,
        to: str,
        kind: str,
        before: dict[str, Any],
        totals: dict[str, Any],
        source: dict[str, str],
        settings: dict[str, str],
    ) -> int:
        """Makes the checkpoint of the same or a changed query; what a killed run left goes."""
        rmtree(to, ignore_errors=True)
        asked, question = self._question(kind, totals, source, settings)
        _, old = self._question(kind, before, source, settings)
        found = keyfold.evolve(
            checkpoint, question, to, output_mode=asked.mode, before=old, dry_run=False
        )
        return found.last_batch

    def savepoint(self, checkpoint: str, name: str) -> int:
        return copies.savepoint(checkpoint, name, spark=self._spark).batch

    def vacuum(self, checkpoint: str) -> int:
        opened = keyfold.open_checkpoint(checkpoint)
        paths = [it.path for it in opened.fsck().findings if not it.is_damage]
        found = vacuum.vacuum(
            opened.path, paths, older_than_hours=0, dry_run=False, spark=self._spark
        )
        return len(found.unreferenced)

    def compare(self, checkpoint: str, settings: dict[str, str]) -> int:
        """Compares what Spark's own source reads with what Keyfold's reader does."""
        return sum(compare(self._session(settings), Path(checkpoint)).values())

    def _question(
        self, kind: str, totals: dict[str, Any], source: dict[str, str], settings: dict[str, str]
    ) -> tuple[Kind, DataFrame]:
        """A query of a folder of `files`, or of topics with a `prefix` at `kafka`."""
        session = self._session(settings)
        asked = next(it for it in KINDS if it.name == kind)
        if "files" in source:
            read = streams(session, Path(source["files"]))
        else:
            options = {"kafka.bootstrap.servers": source["kafka"], "startingOffsets": "earliest"}
            others = {it: source[it] for it in source if it not in ("kafka", "prefix")}
            read = topics(session, options | others, source["prefix"])
        if asked.changes:
            its = Totals(**{name: tuple(items) for name, items in totals.items()})
            return asked, its.question(read.rows)
        return asked, asked.question(read)

    def _session(self, settings: dict[str, str]) -> SparkSession:
        session = self._spark.newSession()
        for name, value in settings.items():
            session.conf.set(name, value)
        return session


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    job = Job(json.loads(sys.argv[1]))
    print(json.dumps({"answer": None}), file=answers, flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        try:
            told = {"answer": getattr(job, command.pop("do"))(**command)}
        except keyfold.KeyfoldError as error:
            told = {"refused": str(error)}
        except Exception:  # noqa: BLE001 - whoever asked judges it
            told = {"failed": traceback.format_exc()}
        print(json.dumps(told), file=answers, flush=True)


if __name__ == "__main__":
    main()
