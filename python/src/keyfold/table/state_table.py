"""A store, a join's side or a state variable as a table, at any batch that is retained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from keyfold.spark_log.batch import Batch, find_batch
from keyfold.table.changes import a_row_a_key, diff_schema, differences
from keyfold.table.column import find_column
from keyfold.table.condition import condition
from keyfold.table.history import history
from keyfold.table.lookup import look_up, named_key, stray_partitions
from keyfold.table.scan import Scan
from keyfold.table.source import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class StateTable:
    """Rows of state: `key`, `value`, `partition_id`, as Spark's `statestore` source has them.

    A list's elements are in `list_element`, a map's in `user_map_key` and `user_map_value`, and
    timers have `expiration_timestamp_ms`. A join's side has one column more than Spark shows,
    `matched`: whether a partner was found for the row. Batches are numbers of the query's batches;
    -1 is the last committed, -2 the one before it. Besides the errors that they list, methods raise
    BatchNotRetainedError for a batch that cannot be read, and FileMissingError or FileCorruptError
    for files that the batch needs.
    """

    def __init__(self, source: Source) -> None:
        self.source = source

    @property
    def name(self) -> str:
        """Its name in the operator."""
        return self.source.layout.name

    @property
    def kind(self) -> str:
        """What it contains: rows, list, map, timers or join side."""
        return self.source.layout.shape.value

    @property
    def schema(self) -> pa.Schema:
        """The columns of its rows."""
        return self.source.layout.arrow

    def get(self, key: Mapping[str, Any], batch: int = -1) -> pa.Table:
        """The rows of a key, none if it does not exist; reads only the blocks of its key group.

        Args:
            key: values by name of column. Columns may be left out; all rows are read if those that
                determine the partition are not all given. A map is a dictionary or pairs, in any
                order. Spark does not keep the name of a grouping column that is an expression or
                has maps: any name is taken for it, if there is one such column.
            batch: a batch of the query.

        Raises:
            InvalidArgumentError: a column is unknown, or a value is of another type.
        """
        named = named_key(self.source, key)

        def read(source: Source, found: Batch) -> pa.Table:
            return look_up(source, found, named, partial(stray_partitions, source, found))

        return self.source.read_at(batch, read)

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: str | pc.Expression | None = None,
        batch: int = -1,
        limit: int | None = None,
        *,
        flatten: bool = True,
    ) -> Scan:
        """Rows of the table. They are read when a method of the result returns them.

        Args:
            columns: names of columns, with fields after a dot: `value.count`. By default all.
            where: a condition, as text (`key.user == 42 and value.count > 3`) or as an expression
                of `pyarrow.compute`.
            batch: a batch of the query.
            limit: the largest number of rows to return.
            flatten: whether lists and maps have a row for each element, or one for each key.

        Raises:
            InvalidArgumentError: the condition cannot be parsed.
            UnknownNameError: a column does not exist.
        """
        layout = replace(self.source.layout, flat=flatten)
        if where is not None:
            where = condition(where, layout.arrow)
        for name in columns or ():
            find_column(layout.arrow, name)
        names = None if columns is None else tuple(columns)
        return Scan(replace(self.source, layout=layout), names, where, batch, limit)

    def count(self, batch: int = -1) -> int:
        """Number of rows."""
        return self.scan(batch=batch).count()

    def diff(self, before: int, after: int = -1) -> pa.Table:
        """Differences between two batches: `change` is inserted, updated or deleted.

        Columns other than the key appear twice, as `before_value` and `after_value`. If a key has
        several values, they are lists.
        """

        def compare(source: Source, new: Batch) -> pa.Table:
            old = find_batch(source.storage, before)
            keyed = a_row_a_key(source, new)
            tables = list(differences(keyed, old, new))
            empty = diff_schema(keyed.layout.arrow).empty_table()
            return pa.concat_tables(tables) if tables else empty

        return self.source.read_at(after, compare)

    def history(self, key: Mapping[str, Any]) -> pa.Table:
        """The values of a key in all retained batches, with `batch_id` and `change`.

        `change` is `present` if the oldest batch already has the key, then inserted, updated or
        deleted. Raises the errors of `get`.
        """
        return history(self.source.once(), key)

    def to_spark(
        self,
        spark: SparkSession,
        columns: Sequence[str] | None = None,
        where: str | pc.Expression | None = None,
        batch: int = -1,
        *,
        flatten: bool = True,
    ) -> DataFrame:
        """The rows as a DataFrame, read by Spark's Python workers, a task for each partition.

        The workers need this package (on a cluster without it: `spark-submit --py-files`, or
        `addArtifacts`) and must reach the checkpoint by the same path. They return only the
        requested rows and columns. The batch is chosen when this method is called.

        Args:
            spark: a session, classic or Connect.
            columns: as for `scan`.
            where: as for `scan`.
            batch: a batch of the query.
            flatten: whether lists and maps have a row for each element.

        Raises:
            InvalidArgumentError: the condition cannot be parsed.
            UnknownNameError: a column does not exist.
        """
        from keyfold.table.spark_frame import spark_frame  # noqa: PLC0415 - PySpark need not be there

        return spark_frame(spark, self.scan(columns, where, batch, flatten=flatten))

    def __repr__(self) -> str:
        """Operator and name."""
        operator = self.source.operator
        return f"StateTable({operator.name!r} {operator.id}, {self.name!r}, {self.kind})"
