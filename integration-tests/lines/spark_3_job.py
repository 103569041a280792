"""Queries that Spark 3.5 has begun go on with Keyfold.

Usage: python spark_3_job.py before|after FOLDER; prints a line for each query.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

PACKAGE = "org.apache.spark.sql.execution.streaming.state"
PROVIDERS = ("HDFSBackedStateStoreProvider", "RocksDBStateStoreProvider")
SCHEMA = "id int, key string, at timestamp, amount double"
BATCHES = (
    [(n, "abcde"[n % 5], f"2024-01-01 00:0{n % 7}:00", n / 4) for n in range(40)],
    [(n, "abcdefg"[n % 7], f"2024-01-01 00:0{n % 9}:30", n / 8) for n in range(25, 60)],
    [(90, "a", "2024-01-01 03:00:00", 1.0)],
    [(91, "b", "2024-01-01 03:01:00", 2.0)],
)
BEFORE = 2


def late(rows: DataFrame) -> DataFrame:
    return rows.withWatermark("at", "10 minutes")


def joined(rows: DataFrame) -> DataFrame:
    left, right = late(rows), late(rows).select(F.col("id").alias("its"), F.col("at").alias("then"))
    near = F.expr("id = its + 30 and then between at - interval 1 hour and at + interval 1 hour")
    return left.join(right, near, "left_outer")


def seen(rows: DataFrame) -> DataFrame:
    def work(key: Any, frames: Iterator[Any], state: Any) -> Iterator[Any]:  # noqa: ANN401
        import pandas as pd  # noqa: PLC0415 - on workers

        count = (state.get[0] if state.exists else 0) + sum(len(it) for it in frames)
        state.update((count,))
        yield pd.DataFrame({"key": [key[0]], "count": [count]})

    return rows.groupBy("key").applyInPandasWithState(
        work, "key string, count long", "count long", "update", "NoTimeout"
    )


QUERIES: dict[str, tuple[str, Callable[[DataFrame], DataFrame]]] = {
    "aggregation": (
        "update",
        lambda rows: rows.groupBy("key").agg(
            F.count("*"), F.sum("amount"), F.avg("id"), F.max("key"), F.approx_count_distinct("id")
        ),
    ),
    "windows": (
        "append",
        lambda rows: late(rows).groupBy(F.window("at", "5 minutes"), "key").count(),
    ),
    "session windows": (
        "append",
        lambda rows: late(rows).groupBy(F.session_window("at", "1 minute"), "key").count(),
    ),
    "deduplication": ("append", lambda rows: rows.dropDuplicates(["id"])),
    "deduplication within the watermark": (
        "append",
        lambda rows: late(rows).dropDuplicatesWithinWatermark(["id"]),
    ),
    "join": ("append", joined),
    "mapGroups": ("update", seen),
}


class Run:
    """A query on a checkpoint of its own; files of batches are written as they are asked for."""

    def __init__(self, spark: SparkSession, folder: Path, name: str) -> None:
        self._spark, self._folder = spark, folder
        self._mode, self._question = QUERIES[name]
        self.input = folder / "in"
        self.input.mkdir(parents=True, exist_ok=True)

    def frame(self) -> DataFrame:
        reader = self._spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return self._question(reader.json(str(self.input)))

    def evolve(self, checkpoint: str, to: str) -> Any:  # noqa: ANN401 - Spark 3.5 has no Keyfold
        import keyfold  # noqa: PLC0415 - not in the environment of Spark 3.5

        query = self.frame()
        return keyfold.evolve(
            self._folder / checkpoint, query, self._folder / to, output_mode=self._mode,
            before=query, dry_run=False,
        )  # fmt: skip

    def state(self, checkpoint: str) -> dict[str, list[str]]:
        """All rows of each table."""
        import keyfold  # noqa: PLC0415 - not in the environment of Spark 3.5

        return {
            name: sorted(map(str, table.scan().to_pylist()))
            for operator in keyfold.open_checkpoint(self._folder / checkpoint).operators
            for name, table in operator.tables.items()
        }

    def answers(self, checkpoint: str, first: int, last: int) -> list[str]:
        """Writes the files of batches, and returns all rows that come of them, sorted."""
        for number in range(first, last):
            lines = [json.dumps(dict(zip(COLUMNS, it, strict=True))) for it in BATCHES[number]]
            (self.input / f"{number}.json").write_text("\n".join(lines), encoding="utf-8")
        found: list[str] = []
        writer = self.frame().writeStream.outputMode(self._mode)
        writer = writer.foreachBatch(lambda rows, _: found.extend(map(str, rows.collect())))
        writer = writer.option("checkpointLocation", str(self._folder / checkpoint))
        writer.trigger(availableNow=True).start().awaitTermination()
        return sorted(found)


COLUMNS = ("id", "key", "at", "amount")


def main() -> None:
    phase, folder = sys.argv[1], Path(sys.argv[2])
    # Else workers are the system's Python.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", 2)
    builder = builder.config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.session.timeZone", "UTC")
    if phase == "after":
        import keyfold  # noqa: PLC0415 - not in the environment of Spark 3.5

        builder = keyfold.configure(builder)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    for provider in PROVIDERS:
        for name in QUERIES:
            place = folder / f"{name} {provider}"
            run = Run(spark, place, name)
            if phase == "before":
                key = "spark.sql.streaming.stateStore.providerClass"
                spark.conf.set(key, f"{PACKAGE}.{provider}")
                run.answers("checkpoint", 0, BEFORE)
                told = "begun"
            else:
                plan = run.evolve("checkpoint", "evolved")
                answers = run.answers("evolved", BEFORE, len(BATCHES))
                again = Run(spark, place / "again", name)
                again.answers("checkpoint", 0, BEFORE)
                same = answers == again.answers("checkpoint", BEFORE, len(BATCHES))
                same = same and run.state("evolved") == again.state("checkpoint")
                told = f"{plan.rows} rows, {len(answers)} answers, {'equal' if same else 'wrong'}"
            print(f"{name}, {provider}: {told}", flush=True)  # noqa: T201 - the test reads it


if __name__ == "__main__":
    main()
