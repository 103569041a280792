"""Values of Arrow columns as Python values, also times outside of Python's range."""

from __future__ import annotations

from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]


def to_python(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Like `to_pylist`; times outside of Python's range become numbers in the column's unit."""
    try:
        found: list[Any] = column.to_pylist()
    except (OverflowError, ValueError):
        found = [_one(scalar) for scalar in column]
    return found


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
