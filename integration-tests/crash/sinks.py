"""Sinks of queries, and what a reader finds in them. Drivers use this: see `Job`."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from kit.connectors import DELTA, DELTA_SETTINGS, EXTENSIONS, ICEBERG

# A function that says what each batch was given; one that is idempotent, as users write them for
# databases; Spark's files. DELTA and ICEBERG are sinks too.
FUNCTION, DATABASE, FILES = "function", "database", "files"
# Where a sink's folder has an entry for each batch or version.
LOGS = {FILES: "_spark_metadata", DELTA: "_delta_log"}
# These take append mode only, and have the number of each batch in a log of their own.
APPEND_ONLY = KNOWING_BATCHES = (FILES, DELTA, ICEBERG)
# Of Spark, for tables of both.
TABLE_SETTINGS = {
    "spark.sql.extensions": ",".join(EXTENSIONS.values()),
    **DELTA_SETTINGS,
}


def start(frame: DataFrame, sink: str, folder: Path, checkpoint: str, mode: str) -> StreamingQuery:
    """Starts a query into a sink below `folder`; it ends when it has read all that there is."""
    # Delta takes no parentheses in names.
    frame = frame.toDF(*(f"c{it}" for it in range(len(frame.columns))))
    stream = frame.writeStream.outputMode(mode).option("checkpointLocation", checkpoint)
    stream = stream.trigger(availableNow=True)
    if sink == FUNCTION:
        return stream.foreachBatch(_telling(folder, checkpoint)).start()
    if sink == DATABASE:
        return stream.foreachBatch(_inserting(_place(folder, sink))).start()
    if sink == ICEBERG:
        columns = ", ".join(f"{it.name} {it.dataType.simpleString()}" for it in frame.schema)
        table = _table(frame.sparkSession, folder)
        frame.sparkSession.sql(f"CREATE TABLE IF NOT EXISTS {table} ({columns}) USING iceberg")
        return stream.toTable(table)
    return stream.format("parquet" if sink == FILES else sink).start(str(_place(folder, sink)))


def read(spark: SparkSession, sink: str, folder: Path) -> list[list[Any]]:
    """All rows of a sink that is not FUNCTION, as its users read them."""
    place = _place(folder, sink)
    if sink == DATABASE:
        if not place.exists():
            return []
        with sqlite3.connect(place) as database:
            return [json.loads(it) for (it,) in database.execute("SELECT row FROM rows")]
    if sink == ICEBERG:
        rows = spark.table(_table(spark, folder))
    elif not any((place / LOGS[sink]).glob("[0-9]*")):
        # Spark takes a log without an entry for damaged.
        return []
    else:
        rows = spark.read.format("parquet" if sink == FILES else sink).load(str(place))
    return [list(it) for it in rows.collect()]


def location(sink: str, folder: Path) -> str | None:
    """What `rollback` is told of a sink; None for those that it does not know."""
    return str(_place(folder, sink)) if sink in APPEND_ONLY else None


def restore(spark: SparkSession, folder: Path, sql: str) -> None:
    """Runs the SQL in the plan of a rollback, with the names that only the table's owner knows."""
    catalog, _, name = _table(spark, folder).partition(".")
    spark.sql(sql.replace("<catalog>", catalog).replace("<table>", name))
    # RESTORE writes a checkpoint, which Delta cannot read here: see DELTA_SETTINGS.
    log = _place(folder, DELTA) / LOGS[DELTA]
    if log.exists():
        for file in (*log.glob("*.checkpoint.parquet"), log / "_last_checkpoint"):
            file.unlink(missing_ok=True)
        spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def take_back(folder: Path, batch: int) -> None:
    """Deletes from the database what batches after one have written, as its owner would."""
    with sqlite3.connect(_place(folder, DATABASE)) as database:
        database.execute("DELETE FROM rows WHERE batch > ?", (batch,))


def _place(folder: Path, sink: str) -> Path:
    # Where the catalog has its warehouse.
    return folder / ("lake/db/sink" if sink == ICEBERG else f"sink-{sink}")


def _table(spark: SparkSession, folder: Path) -> str:
    """The table in a catalog whose warehouse is the folder; a catalog stays what it was first."""
    catalog = f"lake_{folder.name.replace('-', '_')}"
    spark.conf.set(f"spark.sql.catalog.{catalog}", "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set(f"spark.sql.catalog.{catalog}.type", "hadoop")
    # Another session writes.
    spark.conf.set(f"spark.sql.catalog.{catalog}.cache-enabled", "false")
    spark.conf.set(f"spark.sql.catalog.{catalog}.warehouse", str(folder / "lake"))
    return f"{catalog}.db.sink"


def _telling(folder: Path, checkpoint: str) -> Callable[[DataFrame, int], None]:
    told = folder / "batches"

    def write(batch: DataFrame, number: int) -> None:
        rows = [list(row) for row in batch.collect()]
        planned = (Path(checkpoint) / "offsets" / str(number)).read_text()
        part = told / f".{number}"
        part.write_text(json.dumps({"rows": rows, "planned": planned}))
        part.rename(told / f"{number}.json")

    return write


def _inserting(place: Path) -> Callable[[DataFrame, int], None]:
    def write(batch: DataFrame, number: int) -> None:
        rows = [(number, json.dumps(list(row))) for row in batch.collect()]
        with sqlite3.connect(place) as database:
            database.execute("CREATE TABLE IF NOT EXISTS rows (batch INTEGER, row TEXT)")
            database.execute("DELETE FROM rows WHERE batch = ?", (number,))
            database.executemany("INSERT INTO rows VALUES (?, ?)", rows)

    return write
