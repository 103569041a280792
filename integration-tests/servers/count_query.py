"""A streaming count, started again as often as a test wants, and what it must say."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import keyfold

# Settings of a run.
FORMAT = "streaming__stateStore__checkpointFormatVersion"
# Of one version there are deltas, of the next a snapshot.
SNAPSHOTS = {"streaming__stateStore__minDeltasForSnapshot": 2}

ROWS_PER_FILE = 60
KEYS = 23


class CountQuery:
    """Counts keys, a file a batch. Checkpoints share the files; each goes on where it was."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._source = folder / "in"
        self._source.mkdir(parents=True)

    def run(self, checkpoint: str, files: int = 1, **settings: object) -> dict[str, int]:
        """Writes new files and runs until all are read; all counts, as its last batch says them.

        `settings` are those of `spark.sql` whose names have these ends, with `__` for a dot; None
        unsets one.
        """
        for _ in range(files):
            self._write(len(list(self._source.iterdir())))
        said: dict[str, int] = {}

        def take(batch: DataFrame, _: int) -> None:
            said.clear()
            said.update((row["key"], row["count"]) for row in batch.collect())

        stream = self._session(settings).readStream.schema("key string")
        rows = stream.option("maxFilesPerTrigger", 1).json(str(self._source))
        writer = rows.groupBy("key").count().writeStream.outputMode("complete").foreachBatch(take)
        writer = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True)
        writer.start().awaitTermination()
        return said

    def expected(self, files: int | None = None) -> dict[str, int]:
        """What the counts are after so many files, or all."""
        written = len(list(self._source.iterdir()))
        numbers = range(written if files is None else files)
        return dict(Counter(key for number in numbers for key in _keys(number)))

    def _write(self, number: int) -> None:
        lines = "\n".join(json.dumps({"key": key}) for key in _keys(number))
        (self._source / f"{number}.json").write_text(lines, encoding="utf-8")

    def _session(self, settings: dict[str, object]) -> SparkSession:
        session = self._spark.newSession()
        for end, value in settings.items():
            name = "spark.sql." + end.replace("__", ".")
            if value is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, str(value))
        return session


def state(uri: str) -> dict[str, int]:
    """The counts that a checkpoint holds, read without Spark."""
    rows = keyfold.open_checkpoint(uri)["agg"].scan().to_arrow().to_pylist()
    return {row["key"]["key"]: row["value"]["count"] for row in rows}


def _keys(number: int) -> list[str]:
    """Some in every file, some in few."""
    return [f"k{(number + it * it) % (KEYS + number)}" for it in range(ROWS_PER_FILE)]
