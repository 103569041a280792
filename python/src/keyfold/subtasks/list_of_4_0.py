# ruff: noqa: ANN401, SLF001 - PySpark's own objects; there is no other way past pandas
"""List states of PySpark 4.0, which gives and takes their rows as frames of pandas.

There NaN becomes NULL, a long number loses digits beside a NULL, the ints of an array are read as
others, and a timestamp fails. So rows are put one by one, and taken from the Arrow batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from keyfold.subtasks.rows import Row

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]


class ListOf40:
    """PySpark's ListState, whose rows keep what they are."""

    def __init__(self, state: Any) -> None:
        """Wraps it."""
        self._state = state
        client = state._listStateClient
        client._stateful_processor_api_client = _Client(client._stateful_processor_api_client)

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

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def _read_arrow_state(self) -> Iterator[_Rows]:
        return map(_Rows, self._client._read_arrow_state())


class _Rows:
    """A batch with what PySpark asks of its frame."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.iloc = list(zip(*(it.to_pylist() for it in batch.columns), strict=True))

    def __len__(self) -> int:
        return len(self.iloc)

    def to_pandas(self) -> _Rows:
        return self
