# ruff: noqa: ANN401 - a function can give anything
"""What a function yields, as tables of the output's schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.errors import OperatorOutputError
from keyfold.subtasks.values import UnfitError, instant, wall_clock

_ROWS: Final = (pa.RecordBatch, pa.Table, pd.DataFrame)


class OutputTables:
    """Makes tables of what one method of a function gives, or refuses it."""

    def __init__(self, method: str, schema: pa.Schema) -> None:
        """`method` is its name in messages."""
        self._method, self._schema = method, schema

    def of(self, output: Any) -> Iterator[pa.Table]:
        """The tables.

        Raises:
            OperatorOutputError: something in it does not fit.
        """
        if output is None:
            return
        if isinstance(output, _ROWS) or not isinstance(output, Iterable):
            raise self._error("returned", output, ": yield it, or return a list")
        its = iter(output)
        while True:
            try:
                it = next(its)
            except StopIteration as end:
                if end.value is not None:
                    # A loop does not see it.
                    raise self._error("yields, and returned", end.value, ": yield it") from None
                return
            if not isinstance(it, _ROWS):
                said = ": yield Arrow batches, Arrow tables or pandas DataFrames"
                raise self._error("yielded", it, said)
            columns = [self._column(it, field) for field in self._schema]
            yield pa.Table.from_arrays(columns, schema=self._schema)

    def _column(self, rows: Any, field: pa.Field) -> pa.Array | pa.ChunkedArray:
        names = list(rows.columns) if isinstance(rows, pd.DataFrame) else rows.schema.names
        if field.name not in names:
            raise self._error(
                "yielded", rows, f" without the column {field.name!r}: it has {names}"
            )
        try:
            given = rows[field.name]
            of = _of_pandas if isinstance(given, pd.Series) else _of_arrow
            made = of(given, field.type)
            if made.null_count and not field.nullable:
                raise UnfitError("it has NULL, which the schema excludes")
        except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
            said = f" whose column {field.name!r} is no {field.type}: {error}"
            raise self._error("yielded", rows, said) from error
        return made

    def _error(self, verb: str, it: Any, said: str) -> OperatorOutputError:
        return OperatorOutputError(f"{self._method} {verb} a {type(it).__name__}{said}.")


def _of_arrow(given: pa.Array | pa.ChunkedArray, wanted: pa.DataType) -> Any:
    if given.null_count < len(given):
        _check_times(given.type, wanted)
    return given.cast(wanted)


def _of_pandas(given: Any, wanted: pa.DataType) -> Any:
    if pa.types.is_integer(wanted):
        # Of objects Arrow would make integers unchecked, 7 of 7.5.
        return pa.array(given, from_pandas=True).cast(wanted)
    if _have_zones(wanted) and not given.isna().all():
        if pa.types.is_timestamp(wanted) and given.dtype == object:
            # Arrow would go by the zone of the first one.
            for it in given.dropna():
                (instant if wanted.tz else wall_clock)(it)
        _check_times(pa.array(given, from_pandas=True).type, wanted)
    return pa.array(given, wanted, from_pandas=True)


def _check_times(given: pa.DataType, wanted: pa.DataType) -> None:
    """Raises UnfitError if timestamps would mean another time in the type that is wanted."""
    has, takes = _have_zones(given), _have_zones(wanted)
    if takes == {True} and False in has:
        raise UnfitError(
            "it has times without a time zone. Give them one, or declare the column as "
            "timestamp_ntz"
        )
    if takes == {False} and True in has:
        raise UnfitError(
            "its times have a time zone. Remove it, or declare the column as timestamp"
        )
    if pa.types.is_timestamp(wanted) and not has:
        raise UnfitError(f"it is {given}")


def _have_zones(kind: pa.DataType) -> set[bool]:
    """Whether the timestamps of a type, however deep, have a time zone."""
    if pa.types.is_timestamp(kind):
        return {kind.tz is not None}
    if pa.types.is_map(kind):
        return _have_zones(kind.key_type) | _have_zones(kind.item_type)
    if pa.types.is_struct(kind):
        return set().union(*(_have_zones(it.type) for it in kind))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _have_zones(kind.value_type)
    return set()
