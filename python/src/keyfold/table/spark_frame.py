"""State as a DataFrame: Spark's Python workers read the files, one partition per task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql.pandas.types import from_arrow_schema

from keyfold.spark_log.batch import find_batch
from keyfold.table.scan import Scan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def spark_frame(spark: SparkSession, scan: Scan) -> DataFrame:
    """The rows of a scan without a limit; raises KeyfoldError if there is no head."""
    source = scan.source.once()
    batch = find_batch(source.storage, scan.batch)
    partitions = source.partitions(batch)
    # Without what is cached; each worker reads its own partitions' files side by side.
    sent = replace(scan, source=source.once())

    def read(parts: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for part in parts:
            for partition in part.column(0).to_pylist():
                yield from sent.shaped(sent.source.table(batch, partition)).to_batches()

    frame = spark.range(0, partitions, 1, partitions)
    return frame.mapInArrow(read, from_arrow_schema(scan.schema))
