"""A transformWithState query, as a user writes one who knows nothing of session extensions.

Usage: processor_job.py INPUT CHECKPOINT
"""

import sys
from collections.abc import Iterator
from typing import Any

from pyspark.sql import Row, SparkSession
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.streaming.stateful_processor import TimerValues

source, checkpoint = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()


class Count(StatefulProcessor):
    """Counts the rows of a key."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Makes the state."""
        self.rows = handle.getValueState("rows", "rows long")

    def handleInputRows(  # noqa: N802
        self,
        key: tuple[int],
        rows: Iterator[Any],
        timerValues: TimerValues,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        """Emits how many there were."""
        before = self.rows.get() or (0,)
        self.rows.update((before[0] + len(list(rows)),))
        yield Row(key=key[0], rows=before[0])


query = (
    spark.readStream.schema("key long, value long")
    .json(source)
    .groupBy("key")
    .transformWithState(Count(), "key long, rows long", "update", "None")
    .writeStream.outputMode("update")
    .format("noop")
    .option("checkpointLocation", checkpoint)
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
