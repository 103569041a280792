"""Where the queries' input comes from: day files, or topics of Kafka, which are sent their rows."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from math import ceil
from pathlib import Path
from typing import ClassVar, Final

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name every Spark user knows

from demo.questions import CSV_OPTIONS
from demo.stages import APART, STAGES, Stage, deliver, files_of
from demo.workspace import FILES, FLIGHTS, INPUTS, Workspace

KAFKA: Final = "kafka"
SOURCES: Final = (FILES, KAFKA)

PARTITIONS = 3


class Source(ABC):
    """Brings the input stage by stage."""

    stages: ClassVar[tuple[Stage, ...]]

    @abstractmethod
    def deliver(self, spark: SparkSession, stage: Stage) -> None:
        """Bring what a stage has and no earlier driver has brought."""

    @abstractmethod
    def stream(self, spark: SparkSession, name: str, schema: str, files: int) -> DataFrame:
        """Stream the rows of one of `INPUTS`; a batch has those of so many files."""


class DayFiles(Source):
    """The files themselves, in the order of their modification times."""

    stages = STAGES

    def __init__(self, workspace: Workspace) -> None:
        """Move them within `workspace`."""
        self._workspace = workspace

    def deliver(self, spark: SparkSession, stage: Stage) -> None:  # noqa: ARG002
        """Move the files to where the queries look for them."""
        deliver(stage, self._workspace)

    def stream(self, spark: SparkSession, name: str, schema: str, files: int) -> DataFrame:
        """Stream CSV files, `files` a batch."""
        return (
            spark.readStream.schema(schema)
            .options(**CSV_OPTIONS)
            .option("maxFilesPerTrigger", files)
            .csv(str(self._workspace.input(name)))
        )


class Topics(Source):
    """A topic for each of `INPUTS`, and a record for each row: a line of CSV.

    Files are moved once their rows are sent: so each is sent once, and Spark in batch finds them.
    """

    stages = APART

    def __init__(self, workspace: Workspace, address: str) -> None:
        """Send the files of `workspace` to the Kafka at `address`, which has the topics."""
        self._workspace = workspace
        self._address = address
        self._flights: list[int] = []

    def deliver(self, spark: SparkSession, stage: Stage) -> None:
        """Send the rows of files that have not been moved yet."""
        for name in INPUTS:
            files = files_of(stage, name, self._workspace)
            waiting = (it for it in files if it.parent != self._workspace.input(name))
            self._send(spark, name, [row for file in waiting for row in rows_of(file)])
        deliver(stage, self._workspace)
        flights = files_of(stage, FLIGHTS, self._workspace)
        self._flights = [len(rows_of(file)) for file in flights]

    def stream(self, spark: SparkSession, name: str, schema: str, files: int) -> DataFrame:
        """Stream the rows of a topic.

        A stage has as many batches as with files, each with as many flights as the others. What is
        asked about flights, the weather and the limits, is all in the first one: it may come before
        them, and must not come after.
        """
        records = spark.readStream.format(KAFKA).option("subscribe", name)
        records = records.option("kafka.bootstrap.servers", self._address)
        records = records.option("startingOffsets", "earliest")
        if name == FLIGHTS:
            records = records.option("maxOffsetsPerTrigger", most_records(self._flights, files))
        options = {key: it for key, it in CSV_OPTIONS.items() if key != "header"}
        row = F.from_csv(F.col("value").cast("string"), schema, options)
        return records.load().select(row.alias("row")).select("row.*")

    def _send(self, spark: SparkSession, topic: str, rows: list[str]) -> None:
        """Send rows by turns to each partition: all partitions are then as far in time.

        One of them behind the others would be late for the watermark.
        """
        if not rows:
            return
        partitions = pa.array((it % PARTITIONS for it in range(len(rows))), pa.int32())
        records = spark.createDataFrame(pa.table({"value": rows, "partition": partitions}))
        # One task sends them in order.
        to = records.coalesce(1).write.format(KAFKA).option("topic", topic)
        to.option("kafka.bootstrap.servers", self._address).save()


def rows_of(file: Path) -> list[str]:
    """Read the rows of a CSV file, without its header."""
    return file.read_text(encoding="utf-8").splitlines()[1:]


def most_records(rows: Iterable[int], files: int) -> int:
    """How many records a batch may have, for files with so many rows each to fill full batches.

    Spark rounds each partition's part down: a few more make up for that.
    """
    of_files = list(rows)
    return ceil(sum(of_files) / ceil(len(of_files) / files)) + PARTITIONS
