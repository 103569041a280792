"""Rows of a table, read when a method is called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from keyfold.errors import BatchNotRetainedError, FileMissingError
from keyfold.layout.layout import Shape
from keyfold.spark_log.batch import Batch, find_batch
from keyfold.table.column import flattened, project
from keyfold.table.source import Source
from keyfold.text.arrow_values import to_pandas, to_pylist
from keyfold.text.html_table import html_of_arrow

_SHOWN = 20


@dataclass(frozen=True)
class Scan:
    """Some rows and columns of a state at one batch. Rows are read when a method is called.

    The result of a method is from one batch: the requested batch, or the last committed one when
    the method began. Every method may raise BatchNotRetainedError, and the errors of reading files.
    """

    source: Source
    columns: tuple[str, ...] | None
    where: pc.Expression | None
    batch: int
    limit: int | None

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        return self.shaped(self.source.layout.arrow.empty_table()).schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, one partition after the other.

        The query may remove the files of a batch before all of them have been read. Because some
        rows were already returned, this raises BatchNotRetainedError; `to_arrow` starts again.
        """
        source = self.source.once()
        batch = find_batch(source.storage, self.batch)
        try:
            for table in self._tables(source, batch):
                yield from table.to_batches()
        except FileMissingError as error:
            source.storage.forget()
            if find_batch(source.storage, -1).number == batch.number:
                raise
            raise BatchNotRetainedError(
                f"Cannot read the other rows: the running query has removed files of batch "
                f"{batch.number}. Start again, or let the query retain more batches "
                "(spark.sql.streaming.minBatchesToRetain)."
            ) from error

    def to_arrow(self) -> pa.Table:
        """All rows. If the query removes files of the last batch meanwhile, reads a newer batch."""
        tables = self.source.read_at(self.batch, lambda on, it: list(self._tables(on, it)))
        return pa.concat_tables(tables) if tables else self.schema.empty_table()

    def to_reader(self) -> pa.RecordBatchReader:
        """The rows as a stream for other libraries, such as DuckDB or Polars."""
        return pa.RecordBatchReader.from_batches(self.schema, self.batches())

    def to_pandas(self, **options: Any) -> Any:  # noqa: ANN401 - pandas need not be there
        """All rows as a DataFrame, with a column for each field of a struct: `key.user`.

        A column with times that pandas cannot hold or show is one of objects, as `to_pylist` has
        them.

        Args:
            options: of `pyarrow.Table.to_pandas`.
        """
        return to_pandas(flattened(self.to_arrow()), **options)

    def to_pylist(self) -> list[dict[str, Any]]:
        """All rows as dictionaries, as `keyfold.to_pylist` makes them of any table."""
        return to_pylist(self.to_arrow())

    def count(self) -> int:
        """Number of rows; without a condition, usually from footers alone."""
        return self.source.read_at(self.batch, self._count)

    def shaped(self, table: pa.Table) -> pa.Table:
        """The requested rows and columns of a table, without the limit."""
        if self.where is not None:
            table = table.filter(self.where)
        if self.columns is not None:
            table = project(table, self.columns)
        return table

    def _repr_html_(self) -> str:
        some = replace(self, limit=self.limit or _SHOWN)
        return html_of_arrow(flattened(some.to_arrow()), _SHOWN)

    def _tables(self, source: Source, batch: Batch) -> Iterator[pa.Table]:
        left = self.limit
        if left == 0:
            return
        for table in source.tables(batch):
            shaped = self.shaped(table)
            if left is not None:
                shaped = shaped.slice(0, left)
                left -= shaped.num_rows
            yield shaped
            if left == 0:
                return

    def _count(self, source: Source, batch: Batch) -> int:
        known = None if self.where is not None else self._known_count(source, batch)
        if known is None:
            return sum(table.num_rows for table in self._tables(source, batch))
        return known if self.limit is None else min(known, self.limit)

    def _known_count(self, source: Source, batch: Batch) -> int | None:
        layout = source.layout
        if layout.shape is Shape.MAP and not layout.flat:
            return None
        total = 0
        for head in source.heads(batch):
            family = source.family(head)
            if family is not None:
                a_row_a_value = layout.shape is not Shape.LIST or layout.flat
                known = family.values if a_row_a_value else family.keys
                if known is None:
                    return None
                total += known
        return total
