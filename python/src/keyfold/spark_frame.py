"""State as a DataFrame: Spark's Python workers read the files, a partition each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql.pandas.types import from_arrow_schema

from keyfold.batch import Batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from keyfold.table.source import Source


def spark_frame(spark: SparkSession, source: Source, batch: Batch) -> DataFrame:
    """The rows of a batch; raises KeyfoldError if there is no head."""
    partitions = source.partitions(batch)
    schema = from_arrow_schema(source.layout.arrow)
    root, operator, layout = source.storage.root, source.operator, source.layout
    frame = spark.range(0, partitions, 1, partitions)
    return frame.mapInArrow(_reader(root, operator, layout, batch), schema)


def _reader(
    root: str, operator: object, layout: object, batch: Batch
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def read(parts: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from keyfold.storage import Storage  # noqa: PLC0415 - in the worker
        from keyfold.table.source import Source  # noqa: PLC0415

        source = Source(Storage(root), operator, layout)  # type: ignore[arg-type]
        for part in parts:
            for partition in part.column(0).to_pylist():
                yield from source.table(batch, partition).to_batches()

    return read
