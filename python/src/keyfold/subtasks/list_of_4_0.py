# ruff: noqa: ANN401, SLF001 - PySpark's own objects; there is no other way past pandas
"""List states of PySpark 4.0, which gives and takes their rows as frames of pandas.

There NaN becomes NULL, a long number loses digits beside a NULL, the ints of an array are read as
others, and a timestamp fails. So rows are put one by one, and taken from the Arrow batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from keyfold.subtasks.converters import same, unless_none
from keyfold.subtasks.rows import Row
from keyfold.subtasks.values import Convert

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyspark.sql.types import StructType


class ListOf40:
    """PySpark's ListState, whose rows keep what they are."""

    def __init__(self, state: Any, schema: StructType) -> None:
        """Wraps it; `schema` is that of a row."""
        self._state = state
        client = state._listStateClient
        client._stateful_processor_api_client = _Client(
            client._stateful_processor_api_client, [_taken(it.dataType) for it in schema]
        )

    def get(self) -> Iterator[Row]:
        """All rows."""
        return iter(self._state.get())

    def appendList(self, rows: list[Row]) -> None:  # noqa: N802
        """Appends rows."""
        for row in rows:
            self._state.appendValue(row)

    def put(self, rows: list[Row]) -> None:
        """Replaces all rows."""
        self._state.clear()
        self.appendList(rows)

    def clear(self) -> None:
        """Removes all rows."""
        self._state.clear()


class _Client:
    """PySpark's client of the state server, whose batches are not frames."""

    def __init__(self, client: Any, taken: list[Convert]) -> None:
        self._client, self._taken = client, taken

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def _read_arrow_state(self) -> Iterator[_Rows]:
        return (_Rows(it, self._taken) for it in self._client._read_arrow_state())


class _Rows:
    """A batch with what PySpark asks of its frame."""

    def __init__(self, batch: pa.RecordBatch, taken: list[Convert]) -> None:
        columns = zip(taken, batch.columns, strict=True)
        self.iloc = list(zip(*(map(of, it.to_pylist()) for of, it in columns), strict=True))

    def __len__(self) -> int:
        return len(self.iloc)

    def to_pandas(self) -> _Rows:
        return self


def _taken(kind: Any) -> Convert:
    """A converter from Arrow's values to those of the other lines of Spark."""
    name = kind.typeName()
    if name == "array":
        element = _taken(kind.elementType)
        return unless_none(lambda value: [element(it) for it in value])
    if name == "map":
        key, held = _taken(kind.keyType), _taken(kind.valueType)
        return unless_none(lambda value: {key(k): held(it) for k, it in value})
    if name == "struct":
        from pyspark.sql import Row as Struct  # noqa: PLC0415 - only PySpark has it

        make, fields = Struct(*kind.names), [_taken(it.dataType) for it in kind]
        return unless_none(
            lambda value: make(*(of(it) for of, it in zip(fields, value.values(), strict=True)))
        )
    return same
