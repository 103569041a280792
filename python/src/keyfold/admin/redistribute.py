"""Changes the number of subtasks of an operator of a stopped query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from keyfold.admin import bridge
from keyfold.admin.bridge import lines, result
from keyfold.flink import LIMIT, check_parallelism
from keyfold.subtasks.place import place_of

if TYPE_CHECKING:
    import os

    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class RedistributionPlan:
    """What a redistribution does, or has done.

    Attributes:
        checkpoint: location, with scheme.
        operator: the operator's name.
        last_batch: the newest committed batch, whose state is redistributed; -1 if there is none.
        before: number of subtasks before; 0 if not known.
        after: number of subtasks after it.
        states: for each state by name "split", "union" or "broadcast".
        partitions: number of partitions that are written. Those without subtasks stay.
        refusals: the reasons why it cannot be done, a sentence each.
        applied: whether it was done.
    """

    checkpoint: str
    operator: str
    last_batch: int
    before: int
    after: int
    states: dict[str, str]
    partitions: int
    refusals: tuple[str, ...]
    applied: bool

    def __str__(self) -> str:
        """For a terminal."""
        states = ", ".join(f"{name} ({rule})" for name, rule in sorted(self.states.items()))
        rows = [
            ("checkpoint", self.checkpoint),
            ("operator", self.operator),
            ("subtasks", f"{self.before} -> {self.after}"),
            ("last batch", str(self.last_batch)),
            ("states", states),
            ("partitions", f"{self.partitions} to write, no state of other operators"),
        ]
        if self.applied:
            undo = bridge.command_line("rescale", self.checkpoint, undo=True, apply=True)
            rows += [("done", f"after batch {self.last_batch}"), ("to undo", undo)]
        return lines(rows, applied=self.applied, refusals=self.refusals)


def redistribute(
    path: str | os.PathLike[str],
    operator: str,
    parallelism: int,
    *,
    dry_run: bool = True,
    spark: SparkSession | None = None,
) -> RedistributionPlan:
    """Gives an operator of `with_operator_state` another number of subtasks, and its state to them.

    The rows of a "split" list, in the order of the old subtasks, are dealt: row i goes to subtask
    `i % parallelism`. A "union" list is given to each as a whole, in that order. Of a broadcast
    map, subtask t gets the copy that old subtask `t % old parallelism` has. Only the operator's own
    state is read and written. `undo_rescale` undoes it until the query has run; then the query is
    to be started with this parallelism, or is redistributed again.

    Args:
        path: checkpoint of a stopped query, of checkpoint format 2.
        operator: its name, as `with_operator_state` has it.
        parallelism: the new number of subtasks.
        dry_run: only plan.
        spark: session to use; by default the active one, or a new one.

    Raises:
        InvalidArgumentError: `parallelism` is not between 1 and 32,768.
        ClassicSessionError: the session is a Spark Connect session.
        JvmError: it is refused; nothing was changed.
    """
    check_parallelism(LIMIT, parallelism)
    command = bridge.command_line(
        "rescale", path, operator=operator, parallelism=parallelism, apply=not dry_run
    )
    places = ",".join(str(place_of(subtask)) for subtask in range(parallelism))
    found = bridge.answer(
        "redistribute", path, operator, places, dry_run, command=command, spark=spark
    )
    return result(RedistributionPlan, found, operator=found["name"])
