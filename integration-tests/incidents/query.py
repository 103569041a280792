"""A query over files of words, one for each batch, and what must be true of it at the end."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from keyfold.settings import FORMAT_KEY

# Of base checkpoints; an incident adds a file for the batch that it wants.
FILES = [["a", "b", "a"], ["c", "a"], ["d", "e", "b"], ["f"], ["a", "g", "h"]]
NEXT = ["i", "b"]


def write_inputs(folder: Path, files: list[list[str]]) -> None:
    """Makes `folder` have these files and no others; a file that is there stays as it is."""
    folder.mkdir(exist_ok=True)
    for old in sorted(folder.iterdir())[len(files) :]:
        old.unlink()
    for number, words in enumerate(files):
        path = folder / f"{number}.json"
        if not path.exists():
            path.write_text("\n".join(json.dumps({"word": it}) for it in words), encoding="utf-8")


@dataclass
class Query:
    """Counts words; with a file sink, finds each word once.

    Attributes:
        spark: an application; the query has a session of its own.
        source: folder of its input.
        checkpoint: its checkpointLocation.
        sink: folder of its file sink, if it has one.
        settings: of its session.
        original: its checkpoint before any damage.
    """

    spark: SparkSession
    source: Path
    checkpoint: Path
    sink: Path | None
    original: Path
    settings: dict[str, str] = field(default_factory=dict)

    def _session(self) -> SparkSession:
        session = self.spark.newSession()
        for key, value in self.settings.items():
            session.conf.set(key, value)
        return session

    def _writer(self) -> DataStreamWriter:
        words = self._session().readStream.schema("word string").option("maxFilesPerTrigger", 1)
        words = words.json(str(self.source))
        found = words.dropDuplicates(["word"]) if self.sink else words.groupBy("word").count()
        writer = found.writeStream.option("checkpointLocation", str(self.checkpoint))
        return writer.outputMode("append" if self.sink else "update")

    def run(self) -> str | None:
        """Runs all there is; returns what Spark says if it fails."""
        writer = self._writer().format("noop")
        if self.sink:
            writer = writer.format("json").option("path", str(self.sink))
        return self._ended(writer.trigger(availableNow=True))

    @staticmethod
    def _ended(writer: DataStreamWriter) -> str | None:
        try:
            writer.start().awaitTermination()
        except (PySparkException, Py4JError) as error:
            return str(error)
        return None

    def wrong(self, files: list[list[str]]) -> str | None:
        """What is wrong with its rows after all of these files; None if they are exact."""
        words = Counter(it for file in files for it in file)
        state = self._session().read.format("statestore").load(str(self.checkpoint))
        if self.sink is None:
            found = dict(state.select("key.word", "value.count").collect())
            return None if found == words else f"counts are {found}, should be {dict(words)}"
        out = self._session().read.schema("word string").json(str(self.sink)).collect()
        keys = sorted(it[0] for it in state.select("key.word").collect())
        rows = sorted(it.word for it in out)
        expected = sorted(words)
        return None if keys == rows == expected else f"state {keys}, output {rows}"

    @property
    def uses_format_2(self) -> bool:
        return self.settings.get(FORMAT_KEY, "2") == "2"
