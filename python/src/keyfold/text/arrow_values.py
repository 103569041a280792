"""Values of Arrow columns as Python values, also times outside of Python's range."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]


def to_pylist(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table as dictionaries, like `pyarrow.Table.to_pylist`.

    A date or a time outside of Python's years 1 to 9999 becomes a number in the column's unit:
    days of a date, microseconds of a timestamp since 1970, microseconds of an interval.
    """
    columns = map(to_python, table.columns)
    names = table.schema.names
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def to_pandas(table: pa.Table, **options: Any) -> Any:  # noqa: ANN401 - pandas need not be there
    """A DataFrame, like `pyarrow.Table.to_pandas`.

    A column that pandas cannot hold or show is one of objects, as `to_pylist` has them.
    """
    try:
        for column in table.columns:
            if pa.types.is_timestamp(column.type) and column.type.tz:
                # pandas holds any time in UTC, but fails when it shows one that Python has not.
                pc.min_max(column).as_py()
        return table.to_pandas(**options)
    except (OverflowError, ValueError):
        pandas: Any = import_module("pandas")
        if table.num_columns > 1:
            columns = [to_pandas(table.select([at]), **options) for at in range(table.num_columns)]
            return pandas.concat(columns, axis=1)
        return pandas.DataFrame(
            dict.fromkeys(table.schema.names, to_python(table[0])), dtype=object
        )


def to_python(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Like `to_pylist`; times outside of Python's range become numbers in the column's unit."""
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):
        return [_one(scalar) for scalar in column]


def _one(scalar: pa.Scalar) -> Any:  # noqa: ANN401 - whatever a column holds
    try:
        return scalar.as_py()
    except (OverflowError, ValueError):
        if isinstance(scalar, pa.StructScalar):
            return {name: _one(value) for name, value in scalar.items()}
        if isinstance(scalar, pa.MapScalar):
            return [(_one(it["key"]), _one(it["value"])) for it in scalar.values]
        if isinstance(scalar, pa.ListScalar):
            return [_one(it) for it in scalar.values]
        return scalar.value
