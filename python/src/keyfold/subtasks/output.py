# ruff: noqa: ANN401 - a function can give anything
"""What a function yields, as tables of the output's schema.

A value goes out by the rules by which it goes into a state. A column whose Arrow type says already
that all its values are exact is not looked at value by value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.types as t  # type: ignore[import-untyped]

from keyfold.errors import OperatorOutputError
from keyfold.subtasks.converters import into
from keyfold.subtasks.values import UnfitError

if TYPE_CHECKING:
    from pyspark.sql.types import StructField, StructType

_ROWS: Final = (pa.RecordBatch, pa.Table, pd.DataFrame)
_TEXTS: Final = (pa.string(), pa.large_string())
_BYTES: Final = (pa.binary(), pa.large_binary())


class OutputTables:
    """Makes tables of what one method of a function gives, or refuses it."""

    def __init__(self, method: str, schema: StructType, arrow: pa.Schema) -> None:
        """`method` is its name in messages, `arrow` the same schema for Arrow."""
        self._method, self._schema, self._arrow = method, schema, arrow

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
            columns = [self._column(it, *of) for of in zip(self._schema, self._arrow, strict=True)]
            yield pa.Table.from_arrays(columns, schema=self._arrow)

    def _column(self, rows: Any, field: StructField, arrow: pa.Field) -> Any:
        names = list(rows.columns) if isinstance(rows, pd.DataFrame) else rows.schema.names
        if (found := names.count(field.name)) != 1:
            said = f" {'with several columns' if found else 'without the column'} {field.name!r}"
            raise self._error("yielded", rows, f"{said}: it has {names}")
        try:
            made = _exact(rows[field.name], field, arrow.type)
            if made.null_count and not field.nullable:
                raise UnfitError("it has NULL, which the schema excludes")
        except (pa.ArrowException, ArithmeticError, TypeError, ValueError) as error:
            said = f" whose column {field.name!r} is no {field.dataType.simpleString()}: {error}"
            raise self._error("yielded", rows, said) from error
        return made

    def _error(self, verb: str, it: Any, said: str) -> OperatorOutputError:
        return OperatorOutputError(f"{self._method} {verb} a {type(it).__name__}{said}.")


def _exact(given: Any, field: StructField, wanted: pa.DataType) -> Any:
    if isinstance(given, pd.Series) and given.dtype == object:
        if t.is_string(wanted) or t.is_binary(wanted) or t.is_boolean(wanted):
            # The usual columns of text: Arrow finds another type, or raises, if it is not all so.
            with suppress(pa.ArrowException, UnicodeError):
                made = pa.array(given, from_pandas=True)
                if made.type == wanted:
                    return made
        its = [None if missing else it for it, missing in zip(given, given.isna(), strict=True)]
    else:
        if isinstance(given, pd.Series):
            given = pa.array(given, from_pandas=True)
        if given.type == wanted:
            return given
        if _casts_exactly(given.type, wanted):
            with suppress(pa.ArrowInvalid):
                return given.cast(wanted)
        its = given.to_pylist()
    if t.is_duration(wanted) or t.is_time(wanted) or all(it is None for it in its):
        # Python's own timedelta and time have microseconds, as Spark's.
        return pa.array(its, wanted)
    convert = into(field.dataType, nullable=field.nullable, is_state=False)
    return pa.array([convert(it) for it in its], wanted)


def _casts_exactly(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether Arrow's cast keeps each value or raises ArrowInvalid."""
    if t.is_list(given) and t.is_list(wanted) and wanted.value_field.nullable:
        its = (given.value_type, wanted.value_type)
        return its[0] == its[1] or _casts_exactly(*its)
    if t.is_timestamp(given) and t.is_timestamp(wanted):
        return bool((given.tz is None) == (wanted.tz is None))
    return bool(
        (t.is_integer(given) and (t.is_integer(wanted) or t.is_floating(wanted)))
        or (t.is_float32(given) and t.is_float64(wanted))
        or (t.is_duration(given) and t.is_duration(wanted))
        or (t.is_time(given) and t.is_time(wanted))
        or any(given in kinds and wanted in kinds for kinds in (_TEXTS, _BYTES))
    )
