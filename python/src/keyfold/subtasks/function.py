"""What a user writes: an operator's function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from keyfold.errors import InvalidArgumentError, OperatorOutputError
from keyfold.subtasks.state import BroadcastState, Call, Held, ListState, StateSpec

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyspark.sql.types import StructType

    Output = Iterable[pa.RecordBatch | pa.Table | pd.DataFrame] | None

ListRedistribution = Literal["split", "union"]


@dataclass(frozen=True)
class OperatorContext:
    """What `OperatorFunction.open` is given.

    Attributes:
        subtask: from 0 until `parallelism`.
        parallelism: number of subtasks.
        is_restored: whether the operator has state from an earlier batch, also of other subtasks
            before a change of parallelism.
    """

    subtask: int
    parallelism: int
    is_restored: bool
    _call: Call
    _held: Callable[[StateSpec], Held]

    def list_state(
        self, name: str, schema: str | StructType, *, redistribute: ListRedistribution = "split"
    ) -> ListState:
        """The subtask's part of a list.

        Args:
            name: unique in the operator.
            schema: of a row, as a StructType or DDL: "device string, v double".
            redistribute: at a change of parallelism, the rows of all subtasks are taken in the old
                subtasks' order; "split" deals row i to subtask `i % parallelism`, "union" gives all
                rows to each.

        Raises:
            InvalidArgumentError: `redistribute` is neither, or the name or the schema is invalid.
            OperatorStateUndeclaredError: `open` did not take this state for subtask 0.
        """
        if redistribute not in get_args(ListRedistribution):
            raise InvalidArgumentError(
                f"Invalid redistribution {redistribute!r} of state {name!r}: must be 'split' or "
                "'union'."
            )
        return ListState(name, self._held(StateSpec(name, redistribute, "", schema)), self._call)

    def broadcast_state(
        self, name: str, key: str | StructType, value: str | StructType
    ) -> BroadcastState:
        """The subtask's copy of a map.

        At a change of parallelism, subtask t gets the copy of old subtask `t % old parallelism`.

        Args:
            name: unique in the operator.
            key: schema of a key, as DDL or a StructType.
            value: schema of a value, as DDL or a StructType.

        Raises:
            InvalidArgumentError: the name or a schema is invalid.
            OperatorStateUndeclaredError: `open` did not take this state for subtask 0.
        """
        held = self._held(StateSpec(name, "broadcast", key, value))
        return BroadcastState(name, held, self._call)


class OperatorFunction:
    """The work of each subtask of an operator: subclass it and pass an instance of it.

    Each subtask works on a copy of its own, made anew for each micro-batch, so that attributes do
    not last: state does. In each batch a subtask's copy gets these calls in this order.
    """

    def open(self, ctx: OperatorContext) -> None:
        """Takes all states from the context and makes what the subtask needs; cheap, please.

        It is called once per subtask and batch, and once on the driver to find out which states
        there are, as subtask 0 and with empty states that nobody keeps. So every subtask takes the
        same states, and takes them here.
        """

    def notify_committed(self, batch_id: int) -> None:
        """Told that the last batch of this subtask is committed; at least once for each batch."""

    def process_broadcast(self, batches: Iterator[pa.RecordBatch]) -> Output:
        """Takes the batch's rows of the broadcast stream, and may yield output.

        Called only if there are such rows.
        """

    def process(self, batches: Iterator[pa.RecordBatch]) -> Output:
        """Takes the subtask's rows of the batch, possibly none, and may yield output.

        Output is Arrow batches, Arrow tables or pandas frames with the columns of the schema. A
        timestamp in it has a time zone.
        """


def call_for_nothing(
    function: OperatorFunction, operator: str, method: str, argument: object
) -> None:
    """Calls a method that has no result.

    Raises:
        OperatorOutputError: it has one, perhaps a generator or a coroutine, which has not run.
    """
    result = getattr(function, method)(argument)
    if result is not None:
        raise OperatorOutputError(
            f"{method} of operator {operator!r} returned a {type(result).__name__}, and must "
            "return nothing. With yield or async def, Python does not run it."
        )
