"""Queries that write to a Delta and to an Iceberg table, go back with the plan's SQL, and go on."""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import keyfold
from keyfold.admin.rollback import Rollback, undo_rollback

CATALOG = "ice"
STEP = 10


class Query:
    """Finds each number once and writes it to a table of a format.

    Each file has the numbers of those before it, so only who knows the state finds the new ones.
    """

    def __init__(self, spark: SparkSession, root: Path, kind: str) -> None:
        self._spark, self._kind = spark, kind
        self._source, self.checkpoint = root / "in", root / "checkpoint"
        self._source.mkdir(parents=True)
        self._files = 0
        # A table of Iceberg is where its catalog puts it.
        self.table = root / "table" if kind == "delta" else root.parent / "ice" / "db" / root.name
        self._name = f"{CATALOG}.db.{root.name}"
        if kind == "iceberg":
            spark.sql(f"CREATE TABLE {self._name} (number bigint) USING iceberg")

    def run(self, files: int) -> None:
        """Adds files, and takes one of them in each batch."""
        for _ in range(files):
            self._files += 1
            numbers = "\n".join(map(str, range(STEP * self._files)))
            file = self._source / f"{self._files:04}.csv"
            file.write_text(numbers, encoding="utf-8")
            # Spark takes the oldest file first.
            os.utime(file, (self._files, self._files))
        reader = self._spark.readStream.schema("number long").option("maxFilesPerTrigger", 1)
        found = reader.csv(str(self._source)).dropDuplicates(["number"])
        writer = found.writeStream.option("checkpointLocation", str(self.checkpoint))
        writer = writer.trigger(availableNow=True).format(self._kind)
        if self._kind == "delta":
            writer.start(str(self.table)).awaitTermination()
        else:
            writer.toTable(self._name).awaitTermination()

    def roll_back(self, batch: int, *, dry_run: bool = False) -> Rollback:
        checkpoint = keyfold.open_checkpoint(self.checkpoint)
        return checkpoint.rollback(batch, dry_run=dry_run, sink_path=str(self.table))

    def sql(self, command: str) -> None:
        """As a user would run it, who knows the names of catalog and table."""
        named = command.replace("<catalog>", CATALOG).replace("<table>", f"db.{self.table.name}")
        self._spark.sql(named).collect()
        # RESTORE writes a checkpoint of Delta's log. Spark 4.1.4 lacks a constructor that this
        # release of Delta reads one by; the log has all commits, so nothing is lost without it.
        for it in (self.table / "_delta_log").glob("*checkpoint*"):
            it.unlink()
        self._spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # noqa: SLF001

    def delete(self, number: int) -> None:
        """As somebody else may do, who cleans the table."""
        table = f"delta.`{self.table}`" if self._kind == "delta" else self._name
        self._spark.sql(f"DELETE FROM {table} WHERE number = {number}")  # noqa: S608 - our own

    def rows(self) -> list[int]:
        """Of the table, sorted."""
        reader = self._spark.read
        if self._kind == "delta":
            rows = reader.format("delta").load(str(self.table))
        else:
            rows = reader.table(self._name)
        return sorted(row.number for row in rows.collect())

    def state(self) -> list[int]:
        """The numbers that the query knows, sorted."""
        rows = keyfold.open_checkpoint(self.checkpoint)["dedup"].only.scan().to_pylist()
        return sorted(row["key"]["number"] for row in rows)


def go_back_and_on(query: Query) -> dict[str, Any]:
    """Each step's plan, and the rows of the table after it."""
    query.run(files=4)
    plan = query.roll_back(1, dry_run=True)
    done = query.roll_back(1)
    query.sql(done.table.restore)
    restored = query.rows()
    undo_rollback(query.checkpoint, done.aside)
    query.sql(done.table.undo)
    undone = query.rows()
    query.roll_back(1)
    # The table may be given when the rollback is done.
    query.sql(query.roll_back(1, dry_run=True).table.restore)
    # The first batch has what came in two before, and more.
    query.run(files=2)
    again = query.rows()
    # Batches 0 and 1 have the first id of the query, the later ones its second.
    later = query.roll_back(2)
    query.sql(later.table.restore)
    between = query.rows()
    first = query.roll_back(0)
    query.sql(first.table.restore)
    query.run(files=1)
    return {
        "plan": str(plan),
        "table": asdict(plan.table),
        "restored": restored,
        "undone": undone,
        "again": again,
        "later": later.table.batch,
        "between": between,
        "first": first.table.batch,
        "rows": query.rows(),
        "state": query.state(),
    }


def forget_the_table(query: Query) -> dict[str, Any]:
    """The same without the SQL."""
    query.run(files=4)
    plan = query.roll_back(1)
    query.run(files=1)
    return {"plan": str(plan), "rows": query.rows(), "state": query.state()}


def keep_what_others_did(query: Query) -> dict[str, Any]:
    """Twice to one batch, with a row that somebody has deleted in between."""
    query.run(files=4)
    query.sql(query.roll_back(1).table.restore)
    query.delete(3)
    query.run(files=1)
    query.sql(query.roll_back(1).table.restore)
    return {"rows": query.rows()}


def main(root: str, answer: str) -> None:
    """The job."""
    spark = SparkSession.builder.getOrCreate()
    found = {}
    for kind in ("delta", "iceberg"):
        found[kind] = {
            "restored": go_back_and_on(Query(spark, Path(root) / f"{kind}_restored", kind)),
            "forgotten": forget_the_table(Query(spark, Path(root) / f"{kind}_forgotten", kind)),
            "kept": keep_what_others_did(Query(spark, Path(root) / f"{kind}_kept", kind)),
        }
    Path(answer).write_text(json.dumps(found), encoding="utf-8")


main(*sys.argv[1:])
