# ruff: noqa: ANN401, N802, N803 - PySpark names the methods and what they are given
"""A function with subtasks as a processor of PySpark's transformWithState, one key a subtask."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd  # type: ignore[import-untyped]
import pyspark
from pyspark import TaskContext
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from keyfold.errors import OperatorParallelismError, OperatorStateChangedError
from keyfold.subtasks.declared import SUBTASK_OF, Declared, taken
from keyfold.subtasks.function import OperatorContext, OperatorFunction, call_for_nothing
from keyfold.subtasks.list_of_4_0 import ListOf40
from keyfold.subtasks.output import OutputTables
from keyfold.subtasks.packed import BROADCAST, OWN, packed, unpacked
from keyfold.subtasks.state import Call

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyspark.sql.types import StructType

    from keyfold.subtasks.function import Output

SUBTASK = "parallelism int, max_parallelism int, batch long, states string"
"""What is kept of each subtask: what it was last run with, and in which batch.

A redistribution reads and writes it: Redistribution.scala.
"""


def task_number() -> int:
    """The number of the running task in its stage."""
    return _task().partitionId()


def _task() -> TaskContext:
    context = TaskContext.get()
    assert context is not None  # noqa: S101 - called in tasks
    return context


def _list_of(state: Any) -> Any:
    return ListOf40(state) if pyspark.__version__.startswith("4.0.") else state


class SubtaskProcessor(StatefulProcessor):
    """Runs each subtask of an operator, in the order of its keys."""

    def __init__(  # noqa: PLR0913, PLR0917 - an operator
        self,
        function: OperatorFunction,
        name: str,
        column: str,
        bounds: tuple[int, int],
        states: tuple[Declared, ...],
        output: tuple[StructType, pa.Schema],
    ) -> None:
        """Keeps what a subtask needs.

        `column` has the packed rows, `bounds` are parallelism and maximum, `output` its schema
        for Spark and for Arrow.
        """
        self._function, self._name, self._column = function, name, column
        self._bounds, self._states, self._output = bounds, states, output

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Makes the handles of all states."""
        self._subtask = handle.getValueState(f"{SUBTASK_OF}{self._name}", SUBTASK)
        self._held = {
            it.spec: it.held(
                self._name,
                _list_of(handle.getListState(it.spec.name, it.value))
                if it.key is None
                else handle.getMapState(it.spec.name, it.key, it.value),
            )
            for it in self._states
        }

    def handleInputRows(
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: ARG002
    ) -> Iterator[pd.DataFrame]:
        """Runs one subtask in one batch."""
        streams: list[tuple[int, int, int, bytes]] = [
            (row.phase, row.task, row.number, getattr(row, self._column))
            for frame in rows
            for row in frame.itertuples(index=False)
        ]
        # Rows of several tasks arrive mixed, in an order that is not defined.
        streams.sort(key=lambda it: it[:3])
        before, batch = self._before(), int(_task().getLocalProperty("streaming.sql.batchId") or 0)
        call = Call(self._name)
        function = copy.deepcopy(self._function)
        context = OperatorContext(
            int(key[0]),
            self._bounds[0],
            before is not None,
            call,
            partial(taken, self._name, self._held),
        )
        call_for_nothing(function, self._name, "open", context)
        if before is not None:
            call_for_nothing(function, self._name, "notify_committed", before)
        broadcast = _of_phase(streams, BROADCAST)
        if broadcast:
            output = function.process_broadcast(iter(broadcast))
            yield from self._packed("process_broadcast", output)
        yield from self._packed("process", function.process(iter(_of_phase(streams, OWN))))
        self._subtask.update((*self._bounds, batch, self._kinds()))
        call.end()

    def _before(self) -> int | None:
        """The last batch of the subtask, None if it is new."""
        kept = self._subtask.get()
        if kept is None:
            return None
        (parallelism, _, batch, kinds), wanted = kept, self._bounds[0]
        if parallelism != wanted:
            raise OperatorParallelismError(
                f"Operator {self._name!r} has state of {parallelism} subtasks and was started with "
                f"parallelism={wanted}, and the start did not redistribute it: does the session "
                "have Keyfold's extension? Start the query in a session that has it, or run "
                f"`keyfold rescale CHECKPOINT --operator {self._name} --parallelism {wanted} "
                f"--apply`, or start it with parallelism={parallelism}."
            )
        if kinds != self._kinds():
            raise OperatorStateChangedError(
                f"Operator {self._name!r} has the states {kinds} in the checkpoint, and its open "
                f"asks for {self._kinds()}. Give it the states that it had, or start with a new "
                "checkpoint location."
            )
        return int(batch)

    def _kinds(self) -> str:
        kinds = {it.spec.name: it.spec.redistribution for it in self._states}
        return json.dumps(kinds, sort_keys=True)

    def _packed(self, method: str, output: Output) -> Iterator[pd.DataFrame]:
        tables = OutputTables(f"{method} of operator {self._name!r}", *self._output)
        for it in tables.of(output):
            yield pd.DataFrame({"rows": [packed(it.to_batches(), it.schema)]})


def _of_phase(streams: list[tuple[int, int, int, bytes]], phase: int) -> list[pa.RecordBatch]:
    return [batch for it in streams if it[0] == phase for batch in unpacked(it[3])]
