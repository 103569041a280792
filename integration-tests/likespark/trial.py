"""A query on one provider: started, given more input, started again."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

import keyfold
from keyfold.errors import KeyfoldError
from likespark.sinks import SHAPES, Bag, bag
from likespark.world import KEYFOLD, World

WAIT_S = 60
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]")
_VARIABLE = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\S*/\S*|#?\d+L?")
# Of a failure whose cause has a name of its own.
_OUTER = {"STREAM_FAILED", "FOREACH_BATCH_USER_FUNCTION_ERROR"}


class HangsError(Exception):
    """A query that comes to no end."""


def signature(said: str) -> str:
    """What is the same in all failures of a kind: Keyfold's condition, else Spark's."""
    found = [it for it in _CONDITION.findall(said) if it not in _OUTER]
    ours = [it for it in found if it.startswith("KEYFOLD")]
    if ours or found:
        return (ours or found)[-1]
    plain = said.rsplit("terminated with exception: ", maxsplit=1)[-1]
    return _VARIABLE.sub("*", plain).strip()[:120]


@dataclass
class Trial:
    """How a world's query does on a provider.

    Attributes:
        answers: of each start, the rows of each batch that has any.
        failure: what was said when it failed, which ended it.
        refused: what was said of a rescale that was not done.
    """

    world: World
    provider: str
    spark: SparkSession
    folder: Path
    answers: list[list[Bag]] = field(default_factory=list)
    failure: str | None = None
    refused: str | None = None

    def start(self, number: int) -> None:
        """Starts it, unless it has failed before."""
        if self.failure is not None:
            return
        if number and self.provider == KEYFOLD:
            self._rescale(self.world.partitions[number - 1])
        try:
            self.answers.append(self._run())
        except Exception as error:  # noqa: BLE001 - each is compared with those of the others
            self.failure = str(error) or repr(error)

    @property
    def checkpoint(self) -> Path:
        return self.folder / self.provider

    def session(self) -> SparkSession:
        """A new one, with the provider's settings."""
        session = self.spark.newSession()
        for key, value in self.world.settings_of(self.provider).items():
            session.conf.set(key, value)
        return session

    def _rescale(self, partitions: int | None) -> None:
        if partitions is None:
            return
        try:
            keyfold.rescale(self.checkpoint, partitions, dry_run=False, spark=self.spark)
        except (KeyfoldError, PySparkException, Py4JError) as error:
            self.refused = str(error)

    @property
    def _output(self) -> Path:
        return self.folder / f"{self.provider}-output"

    def _run(self) -> list[Bag]:
        session = self.session()
        rows = self.world.ask(session, self.folder)
        writer = rows.writeStream.outputMode(self.world.mode)
        writer = writer.option("checkpointLocation", str(self.checkpoint))
        sink, batches = self.world.sink, list[Bag]()
        if sink in SHAPES:

            def take(batch: DataFrame, _: int) -> None:
                batches.append(SHAPES[sink](batch))

            writer = writer.foreachBatch(take)
        elif sink == "memory":
            writer = writer.format("memory").queryName("remembered")
        elif sink == "json":
            writer = writer.format("json").option("path", str(self._output))
        else:
            writer = writer.format("noop")
        self._await(writer)
        if sink == "memory":
            batches = [bag(session.table("remembered"))]
        elif sink == "json":
            batches = [bag(session.read.schema(rows.schema).json(str(self._output)))]
        return [it for it in batches if it]

    def _await(self, writer: DataStreamWriter) -> None:
        kind = self.world.trigger
        if kind == "all":
            query = writer.start()
            try:
                query.processAllAvailable()
            finally:
                query.stop()
            return
        query = writer.trigger(**{kind: True}).start()
        if not query.awaitTermination(WAIT_S):
            query.stop()
            raise HangsError(f"not ended in {WAIT_S} s")
