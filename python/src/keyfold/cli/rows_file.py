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
            return _parquet(path, columns)
        with Path(path).open(encoding="utf-8") as lines:
            return rows_of(lines, columns, set(schema.names) - set(names))
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise InvalidArgumentError(
            f"Cannot read rows from {path}: {error}. Give a Parquet file, or one object of JSON on "
            f"each line, with {', '.join(names)}, as `keyfold scan -o json` prints them."
        ) from error


def _parquet(path: str, columns: pa.Schema) -> pa.Table:
    rows = pyarrow.parquet.read_table(path).select(columns.names)
    # A cast makes nulls of fields that are missing.
    if _names(pa.struct(list(rows.schema))) != _names(pa.struct(list(columns))):
        raise ValueError(f"it has {rows.schema.to_string()}, not {columns.to_string()}")
    # A time without a zone, as Spark itself writes them by default, is in UTC.
    return rows.cast(columns)


def _names(of: pa.DataType) -> list[str]:
    """Names of fields, those inside of others behind them."""
    fields = [of.field(it) for it in range(of.num_fields)]
    own = [it.name for it in fields] if pa.types.is_struct(of) else []
    return own + [name for it in fields for name in _names(it.type)]
