"""Finds each number once and writes it to a sink of a kind; stops when it has read all files."""

import sqlite3
import sys

from pyspark.sql import DataFrame, SparkSession

KINDS = ("files", "function", "delta")


def into_database(path: str, rows: DataFrame, batch: int) -> None:
    """One transaction for a batch, and none for one that the database has."""
    with sqlite3.connect(path) as database:
        database.execute("create table if not exists batches (batch integer primary key)")
        database.execute("create table if not exists numbers (number integer)")
        if database.execute("select 1 from batches where batch = ?", (batch,)).fetchone():
            return
        found = [tuple(row) for row in rows.collect()]
        database.execute("insert into batches values (?)", (batch,))
        database.executemany("insert into numbers values (?)", found)


def main(kind: str, source: str, checkpoint: str, output: str) -> None:
    """The job."""
    spark = SparkSession.builder.getOrCreate()
    numbers = spark.readStream.schema("number long").option("maxFilesPerTrigger", 1).csv(source)
    writer = numbers.dropDuplicates(["number"]).writeStream.outputMode("append")
    if kind == "function":
        writer = writer.foreachBatch(lambda rows, batch: into_database(output, rows, batch))
    else:
        writer = writer.format("csv" if kind == "files" else kind).option("path", output)
    writer = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True)
    writer.start().awaitTermination()


main(*sys.argv[1:])
