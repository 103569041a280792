"""Which states an operator has: its `open` is run once, on the driver, and tells."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from keyfold.errors import InvalidArgumentError, OperatorStateUndeclaredError
from keyfold.subtasks.function import OperatorContext, OperatorFunction, call_for_nothing
from keyfold.subtasks.rows import Row, RowType
from keyfold.subtasks.state import Call, Held, StateSpec

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

SUBTASK_OF: Final = "subtask_of_"
"""With the operator's name, the state in which Keyfold keeps what it needs of each subtask."""

_TRIMMED: Final = "".join(map(chr, range(ord(" ") + 1)))
"""What Java's trim takes off a name; Spark refuses a name that has it at an end."""


@dataclass(frozen=True)
class Declared:
    """A state with its schemas; a list has no key."""

    spec: StateSpec
    value: StructType
    key: StructType | None

    def held(self, operator: str, state: Any) -> Held:  # noqa: ANN401 - PySpark's state
        """The state of a subtask."""
        what = f"state {self.spec.name!r} of operator {operator!r}"
        key = None if self.key is None else RowType(f"the key of {what}", self.key)
        return Held(state, RowType(what, self.value), key)


def states_of(function: OperatorFunction, operator: str, parallelism: int) -> tuple[Declared, ...]:
    """The states that `open`, of the function of the operator of that name, takes from its context.

    Raises:
        InvalidArgumentError: two of them have one name, or a name or a schema is invalid.
        OperatorOutputError: `open` returns something.
    """
    from keyfold.subtasks.arguments import stored_schema  # noqa: PLC0415 - needs PySpark

    declared: dict[str, Declared] = {}

    def declare(spec: StateSpec) -> Held:
        what = f"state {spec.name!r} of operator {operator!r}"
        if not isinstance(spec.name, str):
            raise InvalidArgumentError(f"Invalid {what}: its name must be a str.")
        if spec.name in declared:
            raise InvalidArgumentError(f"Invalid {what}: open took it already. Take each once.")
        if spec.name.startswith(SUBTASK_OF):
            raise InvalidArgumentError(
                f"Invalid {what}: names that begin with {SUBTASK_OF!r} are Keyfold's own, by which "
                "it finds an operator in a checkpoint. Choose another name."
            )
        is_trimmed = spec.name.strip(_TRIMMED) == spec.name
        if spec.name in {"", "default"} or spec.name.startswith("$") or not is_trimmed:
            raise InvalidArgumentError(f"Invalid {what}: Spark takes no such name.")
        is_map = spec.redistribution == "broadcast"
        key = stored_schema(f"the key of {what}", spec.key) if is_map else None
        declared[spec.name] = Declared(spec, stored_schema(what, spec.value), key)
        return declared[spec.name].held(operator, _EmptyMap() if is_map else _EmptyList())

    call = Call(operator)
    context = OperatorContext(0, parallelism, is_restored=False, _call=call, _held=declare)
    call_for_nothing(copy.deepcopy(function), operator, "open", context)
    call.end()
    return tuple(declared.values())


def taken(operator: str, states: Mapping[StateSpec, Held], spec: StateSpec) -> Held:
    """A state that a subtask asks for.

    Raises:
        OperatorStateUndeclaredError: it is none of the operator's.
    """
    if spec not in states:
        raise OperatorStateUndeclaredError(
            f"Operator {operator!r} has no {_told(spec)}: when with_operator_state called open for "
            f"subtask 0, it took {', '.join(map(_told, states)) or 'no state'}. Take each state in "
            "open, in every subtask, and with the same schema and redistribution."
        )
    return states[spec]


def _told(spec: StateSpec) -> str:
    schema = f"{spec.key!r}, {spec.value!r}" if spec.key else repr(spec.value)
    return f"state {spec.name!r} ({spec.redistribution}, {schema})"


class _EmptyList(list[Row]):
    """PySpark's ListState, in memory."""

    def get(self) -> list[Row]:
        return self

    def appendList(self, rows: list[Row]) -> None:  # noqa: N802
        self.extend(rows)

    def put(self, rows: list[Row]) -> None:
        self[:] = rows


class _EmptyMap(dict[Any, tuple[Row, Row]]):
    """PySpark's MapState, in memory."""

    iterator = dict.values

    def containsKey(self, key: Row) -> bool:  # noqa: N802
        return _hashable(key) in self

    def getValue(self, key: Row) -> Row:  # noqa: N802
        return self[_hashable(key)][1]

    def updateValue(self, key: Row, value: Row) -> None:  # noqa: N802
        self[_hashable(key)] = key, value

    def removeKey(self, key: Row) -> None:  # noqa: N802
        self.pop(_hashable(key), None)


def _hashable(value: Any) -> Any:  # noqa: ANN401 - of a key
    if isinstance(value, dict):
        return frozenset((key, _hashable(held)) for key, held in value.items())
    return tuple(map(_hashable, value)) if isinstance(value, (list, tuple)) else value
