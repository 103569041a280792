"""Which states an operator has: its `open` is run once, on the driver, and tells."""

from __future__ import annotations

import copy
from typing import Any

from keyfold.errors import InvalidArgumentError
from keyfold.subtasks.function import OperatorContext, OperatorFunction
from keyfold.subtasks.state import Call, Row, StateSpec


def states_of(function: OperatorFunction, operator: str, parallelism: int) -> tuple[StateSpec, ...]:
    """The states that `open` takes from its context.

    Raises:
        InvalidArgumentError: two of them have one name.
    """
    found: dict[str, StateSpec] = {}

    def declare(spec: StateSpec) -> Any:  # noqa: ANN401 - stands for PySpark's state
        if spec.name in found:
            raise InvalidArgumentError(
                f"Invalid state {spec.name!r} of operator {operator!r}: it is there already."
            )
        found[spec.name] = spec
        return _EmptyMap() if spec.redistribution == "broadcast" else _EmptyList()

    call = Call(operator)
    copy.deepcopy(function).open(
        OperatorContext(0, parallelism, is_restored=False, _call=call, _held=declare)
    )
    call.end()
    return tuple(found.values())


class _EmptyList(list[Row]):
    """PySpark's ListState, in memory."""

    def get(self) -> list[Row]:
        return self

    def appendList(self, rows: list[Row]) -> None:  # noqa: N802
        self.extend(rows)

    def put(self, rows: list[Row]) -> None:
        self[:] = rows


class _EmptyMap(dict[Row, Row]):
    """PySpark's MapState, in memory."""

    getValue = dict.get  # noqa: N815
    containsKey = dict.__contains__  # noqa: N815
    updateValue = dict.__setitem__  # noqa: N815
    iterator = dict.items

    def removeKey(self, key: Row) -> None:  # noqa: N802
        self.pop(key, None)
