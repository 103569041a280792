"""Rows of a table that users give in a file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]

from keyfold.errors import InvalidArgumentError
from keyfold.table.edits import ROW_KEY
from keyfold.text.json_rows import rows_of


def read_rows(path: str, schema: pa.Schema, *, keys_only: bool) -> pa.Table:
    """The rows of a Parquet file, or of one with an object of JSON on each line.

    Args:
        path: the file; what ends with `.parquet` is Parquet.
        schema: columns of the table.
        keys_only: leave out columns that are not of the key.

    Raises:
        InvalidArgumentError: the file cannot be read, or has other columns.
    """
    names = [it for it in schema.names if it != "partition_id"]
    if keys_only:
        names = [it for it in names if it in ROW_KEY]
    columns = pa.schema([schema.field(it) for it in names])
    try:
        if path.endswith(".parquet"):
            # A time without a zone, as Spark itself writes them by default, is in UTC.
            return pyarrow.parquet.read_table(path).select(names).cast(columns)
        with Path(path).open(encoding="utf-8") as lines:
            return rows_of(lines, columns, set(schema.names) - set(names))
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise InvalidArgumentError(
            f"Cannot read rows from {path}: {error}. Give a Parquet file, or one object of JSON on "
            f"each line, with {', '.join(names)}, as `keyfold scan -o json` prints them."
        ) from error
