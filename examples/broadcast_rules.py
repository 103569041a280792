"""Rules that change while readings come: a second stream brings them, each subtask keeps them.

    python examples/broadcast_rules.py FOLDER

prints an alert for each reading in FOLDER/readings (files of JSON lines: device, v) that is above a
limit in FOLDER/rules (files of JSON lines: name, limit; a null limit removes the rule).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

import keyfold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Alerts(keyfold.OperatorFunction):
    """Yields a row for each reading and each rule whose limit it exceeds."""

    def open(self, ctx: keyfold.OperatorContext) -> None:
        self.rules = ctx.broadcast_state("rules", "name string", "above double")

    def process_broadcast(self, batches: Iterator[pa.RecordBatch]) -> None:
        for batch in batches:
            for rule in batch.to_pylist():
                if rule["limit"] is None:
                    self.rules.remove((rule["name"],))
                else:
                    self.rules.put((rule["name"],), (rule["limit"],))

    def process(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        # One look per batch: the rules of a batch come before its readings.
        rules = [(name, limit) for (name,), (limit,) in self.rules.items()]
        for batch in batches:
            found = [
                {"device": it["device"], "v": it["v"], "rule": name}
                for it in batch.to_pylist()
                for name, limit in rules
                if it["v"] > limit
            ]
            if found:
                yield pa.Table.from_pylist(found)


def alerts(spark: SparkSession, folder: str, parallelism: int = 2) -> DataFrame:
    """The alerts for the readings in a folder, as a stream."""
    readings = spark.readStream.schema("device string, v double").json(f"{folder}/readings")
    rules = spark.readStream.schema("name string, limit double").json(f"{folder}/rules")
    return keyfold.with_operator_state(
        readings,
        Alerts(),
        "device string, v double, rule string",
        parallelism=parallelism,
        broadcast=rules,
    )


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    [place] = sys.argv[1:]
    session = keyfold.configure(SparkSession.builder).getOrCreate()
    writer = alerts(session, place).writeStream.format("console")
    writer.option("checkpointLocation", f"{place}/checkpoint").start().awaitTermination()
