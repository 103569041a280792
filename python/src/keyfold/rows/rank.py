"""Spark's order of values: how it sorts the entries of a map that is a grouping key."""

from __future__ import annotations

from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

_TIMES = (pa.TimestampScalar, pa.Date32Scalar, pa.DurationScalar, pa.Time64Scalar)


def rank(scalar: pa.Scalar) -> tuple[Any, ...]:
    """What sorts values of one type as Spark does: nulls first, NaN last, one zero.

    Equal values have equal ranks; a map's does not depend on the order of its entries.
    """
    if not scalar.is_valid:
        return (0,)
    match scalar:
        case pa.StructScalar():
            return (1, *map(rank, scalar.values()))
        case pa.MapScalar():
            return (1, *sorted(map(rank, scalar.values)))
        case pa.ListScalar():
            return (1, *map(rank, scalar.values))
    # Python has no number for a time after the year 9999.
    value = scalar.value if isinstance(scalar, _TIMES) else scalar.as_py()
    if isinstance(value, float):
        return (1, value != value, 0.0 if value != value else value)  # noqa: PLR0124 - NaN
    return (1, value)
