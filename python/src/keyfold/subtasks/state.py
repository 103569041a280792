"""The states of one subtask, as an operator's function sees them.

Rows are given as tuples, which go by order, or as dicts, PySpark's Rows or named tuples, which go
by their names. Each value is stored exactly as its type has it, or refused; a timestamp has a time
zone, and comes out in UTC.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from keyfold.errors import StateOutsideCallError

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from keyfold.subtasks.rows import Row, RowType

Redistribution = Literal["split", "union", "broadcast"]

_THROUGH_PANDAS: Final = 100
"""PySpark 4.1 sends a list of so many rows through pandas, where NaN becomes NULL."""


@dataclass(frozen=True)
class StateSpec:
    """A state of an operator.

    Attributes:
        name: unique in the operator.
        redistribution: what happens to it at a change of parallelism.
        key: schema of the key of a broadcast map; empty for a list.
        value: schema of an element.
    """

    name: str
    redistribution: Redistribution
    key: str | StructType
    value: str | StructType


@dataclass(frozen=True)
class Held:
    """PySpark's state of a subtask, and what its rows must be like."""

    state: Any
    value: RowType
    key: RowType | None = None


class Call:
    """Whether the call of a subtask, in which its states may be used, goes on."""

    def __init__(self, operator: str) -> None:
        """Begins it."""
        self._operator = operator
        self._goes_on = True

    def end(self) -> None:
        """From now on the states belong to another subtask."""
        self._goes_on = False

    def check(self, state: str) -> None:
        """Raises StateOutsideCallError if the call has ended."""
        if not self._goes_on:
            raise StateOutsideCallError(
                f"State {state!r} of operator {self._operator!r} was used after the call for which "
                "it was made. Use states in open, process, process_broadcast and notify_committed, "
                "and take each anew from the context in open."
            )


class ListState:
    """A list of rows, in the order in which they were added.

    Each method raises StateOutsideCallError outside the calls of its subtask, and
    OperatorStateValueError for a row that does not fit the schema.
    """

    def __init__(self, name: str, held: Held, call: Call) -> None:
        """Wraps PySpark's state of the subtask."""
        self._name, self._held, self._call = name, held.state, call
        self._row = held.value

    def get(self) -> list[Row]:
        """All rows."""
        self._call.check(self._name)
        return [self._row.out_of(it) for it in self._held.get()]

    def add(self, *values: Any) -> None:  # noqa: ANN401 - what the schema has
        """Appends a row, given by the values of its columns."""
        self.add_all([values])

    def add_all(self, rows: Iterable[Any]) -> None:
        """Appends rows; all or, if one of them is refused, none."""
        self._call.check(self._name)
        for part in _parts(list(map(self._row.into, rows))):
            self._held.appendList(part)

    def update(self, rows: Iterable[Any]) -> None:
        """Replaces all rows; if one of them is refused, the list stays as it is."""
        self._call.check(self._name)
        parts = _parts(list(map(self._row.into, rows)))
        if parts:
            self._held.put(parts[0])
        else:
            self._held.clear()
        for part in parts[1:]:
            self._held.appendList(part)

    def clear(self) -> None:
        """Removes all rows."""
        self.update(())


def _parts(rows: list[Row]) -> list[list[Row]]:
    if len(rows) == _THROUGH_PANDAS:
        return [rows[:1], rows[1:]]
    return [rows] if rows else []


class BroadcastState:
    """A map from keys to values, both rows; every subtask has its own copy.

    Each method raises StateOutsideCallError outside the calls of its subtask, and
    OperatorStateValueError for a key or a value that does not fit its schema.
    """

    def __init__(self, name: str, held: Held, call: Call) -> None:
        """Wraps PySpark's state of the subtask."""
        assert held.key is not None  # noqa: S101 - only a list has none
        self._name, self._held, self._call = name, held.state, call
        self._key, self._value = held.key, held.value

    def get(self, key: Any) -> Row | None:  # noqa: ANN401 - a row
        """The value of a key; None if there is none."""
        self._call.check(self._name)
        wanted = self._key.into(key)
        if not self._held.containsKey(wanted):
            return None
        return self._value.out_of(self._held.getValue(wanted))

    def put(self, key: Any, value: Any) -> None:  # noqa: ANN401 - rows
        """Sets the value of a key."""
        self._call.check(self._name)
        self._held.updateValue(self._key.into(key), self._value.into(value))

    def remove(self, key: Any) -> None:  # noqa: ANN401 - a row
        """Removes a key, if it is there."""
        self._call.check(self._name)
        self._held.removeKey(self._key.into(key))

    def items(self) -> list[tuple[Row, Row]]:
        """All keys with their values, in no defined order."""
        self._call.check(self._name)
        return [
            (self._key.out_of(key), self._value.out_of(value))
            for key, value in self._held.iterator()
        ]
