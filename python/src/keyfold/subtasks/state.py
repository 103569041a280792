"""The states of one subtask, as an operator's function sees them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from keyfold.errors import StateOutsideCallError

Redistribution = Literal["split", "union", "broadcast"]
Row = tuple[Any, ...]


@dataclass(frozen=True)
class StateSpec:
    """A state of an operator.

    Attributes:
        name: unique in the operator.
        redistribution: what happens to it at a change of parallelism.
        key: schema of the key of a broadcast map, as DDL; empty for a list.
        value: schema of an element, as DDL.
    """

    name: str
    redistribution: Redistribution
    key: str
    value: str


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

    Each method raises StateOutsideCallError outside the calls of its subtask.
    """

    def __init__(self, name: str, held: Any, call: Call) -> None:  # noqa: ANN401 - PySpark's state
        """Wraps PySpark's state of the subtask."""
        self._name, self._held, self._call = name, held, call

    def get(self) -> list[Row]:
        """All rows."""
        self._call.check(self._name)
        return [tuple(it) for it in self._held.get()]

    def add(self, *values: Any) -> None:  # noqa: ANN401 - what the schema has
        """Appends a row, given by the values of its columns."""
        self.add_all([values])

    def add_all(self, rows: Iterable[Row]) -> None:
        """Appends rows."""
        self._call.check(self._name)
        added = list(rows)
        if added:
            self._held.appendList(added)

    def update(self, rows: Iterable[Row]) -> None:
        """Replaces all rows."""
        self._call.check(self._name)
        new = list(rows)
        if new:
            self._held.put(new)
        else:
            self._held.clear()

    def clear(self) -> None:
        """Removes all rows."""
        self.update(())


class BroadcastState:
    """A map from keys to values, both rows; every subtask has its own copy.

    Each method raises StateOutsideCallError outside the calls of its subtask.
    """

    def __init__(self, name: str, held: Any, call: Call) -> None:  # noqa: ANN401 - PySpark's state
        """Wraps PySpark's state of the subtask."""
        self._name, self._held, self._call = name, held, call

    def get(self, key: Row) -> Row | None:
        """The value of a key; None if there is none."""
        self._call.check(self._name)
        return tuple(self._held.getValue(key)) if self._held.containsKey(key) else None

    def put(self, key: Row, value: Row) -> None:
        """Sets the value of a key."""
        self._call.check(self._name)
        self._held.updateValue(key, value)

    def remove(self, key: Row) -> None:
        """Removes a key, if it is there."""
        self._call.check(self._name)
        self._held.removeKey(key)

    def items(self) -> list[tuple[Row, Row]]:
        """All keys with their values, in no defined order."""
        self._call.check(self._name)
        return [(tuple(key), tuple(value)) for key, value in self._held.iterator()]
