"""Makes the checkpoint of a changed query, with the state of the query before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from keyfold import session as setup
from keyfold.admin import bridge
from keyfold.admin.bridge import lines, result
from keyfold.text.units import count

if TYPE_CHECKING:
    import os

    from pyspark.sql import DataFrame, SparkSession

# Between two texts in one argument: no expression of SQL has it.
_SEPARATOR = "\0"


@dataclass(frozen=True)
class EvolvedColumn:
    """A column of a table, or a field of one.

    Attributes:
        name: such as `value.sum`.
        source: the column that it takes, an expression, or what it starts as.
        aggregate: the aggregate that it belongs to, such as `sum(delay)`, or None.
    """

    name: str
    source: str
    aggregate: str | None = None


@dataclass(frozen=True)
class EvolvedTable:
    """A table of an operator.

    Attributes:
        name: of the column family, of a join's side, or `timers`.
        merges: whether rows of several keys become one.
        columns: in their order.
        source: the table whose rows it takes; None: it starts empty.
    """

    name: str
    merges: bool
    columns: tuple[EvolvedColumn, ...]
    source: str | None = None


@dataclass(frozen=True)
class EvolvedOperator:
    """An operator of the changed query.

    Attributes:
        operator: its number.
        name: Spark's.
        tables: those that it has.
        source: number of the operator whose state it takes; None: it starts empty.
    """

    operator: int
    name: str
    tables: tuple[EvolvedTable, ...]
    source: int | None = None


@dataclass(frozen=True)
class Evolution:
    """The checkpoint of a changed query, planned or made.

    Attributes:
        checkpoint: that of the query before, with scheme; it is only read.
        target: the new one.
        last_batch: the newest committed batch; the changed query goes on with the next one.
        operators: of the changed query.
        lost: operators, tables, columns and state variables whose state nothing takes.
        sources: how each source of the changed query goes on.
        warnings: what to check before it.
        refusals: the reasons why it cannot be done, a sentence each.
        applied: whether it was done.
        rows: number of rows that the new checkpoint has got; None: it was not done.
    """

    checkpoint: str
    target: str
    last_batch: int
    operators: tuple[EvolvedOperator, ...]
    lost: tuple[str, ...]
    sources: tuple[str, ...]
    warnings: tuple[str, ...]
    refusals: tuple[str, ...]
    applied: bool
    rows: int | None = None

    def __str__(self) -> str:
        """For a terminal."""
        rows = [
            ("checkpoint", self.checkpoint),
            ("into", self.target),
            ("last batch", str(self.last_batch)),
            *(row for it in self.operators for row in _operator(it)),
            *(("lost", it) for it in self.lost),
            *((f"source {number}", it) for number, it in enumerate(self.sources)),
        ]
        rows += [("warning", it) for it in self.warnings]
        if self.rows is not None:
            rows += [
                ("done", f"{count(self.rows)} rows. Start the query with the new checkpoint"),
                ("to undo", f"start the query before with {self.checkpoint}, which is as it was"),
            ]
        return lines(rows, applied=self.applied, refusals=self.refusals)


def evolve(  # noqa: PLR0913 - one for each thing that users choose
    path: str | os.PathLike[str],
    query: DataFrame | Callable[[SparkSession], DataFrame],
    to: str | os.PathLike[str],
    *,
    output_mode: str = "append",
    before: DataFrame | Callable[[SparkSession], DataFrame] | None = None,
    mapping: Mapping[Any, int | str] | None = None,
    values: Mapping[str, str] | None = None,
    sources: Sequence[int | None] | None = None,
    dry_run: bool = True,
) -> Evolution:
    """Makes the checkpoint of a changed query, which goes on with the state of a stopped one.

    Spark runs a first batch of the changed query over sources without rows, in a folder beside the
    new checkpoint that is deleted again; its output is dropped, and a state that it begins with is
    not taken again. The tables of its state are then filled from those of the checkpoint. What is
    said here in `mapping` and `values` counts; else operators of the same kind are matched by the
    names of their columns, and columns by name; what has no source is null, and new aggregates
    start empty. Number of partitions, offsets, watermark and the number of the last batch stay. If
    a grouping column was dropped, the aggregates of its groups are merged as Spark merges those of
    its tasks. The result says where each column comes from, what is lost, and what names alone have
    decided.

    The old checkpoint is only read, of whatever provider it is: to go back, start the query before
    on it again. The new checkpoint has a query id of its own.

    Args:
        path: checkpoint of the query before, which is stopped.
        query: what the changed query's `writeStream` is called on, of a classic session that has
            Keyfold; or a function that takes a session and returns it.
        to: the new checkpoint; nothing may be there.
        output_mode: the changed query's: append, update or complete.
        before: the query before, likewise. The checkpoint has only names such as `sum` of its
            aggregates: this says which sum it is. Needed if several have the same name, and for
            those that keep bytes, such as `collect_list` and sketches.
        mapping: operators that take the state of another, as `{0: 1}`, old number to new; and
            tables, as `{"0/total": "0/sum"}`.
        values: expressions of SQL over the old table's columns, by column of the changed query:
            `{"0.value.sum": "value.count * 10"}`, or `"0/left.value.city"` of a named table.
        sources: for each source of the changed query, in Spark's order, the number of that of the
            query before with which it goes on, or None if it begins anew; needed if there are more
            or fewer than before.
        dry_run: only plan; it runs the first batch too.

    Raises:
        ClassicSessionError: the session is a Spark Connect session.
        JvmError: it is refused, or the query fails.
    """
    asked = (
        [f"{old}={new}" for old, new in (mapping or {}).items()],
        [f"{name}={text}" for name, text in (values or {}).items()],
        ["new" if it is None else str(it) for it in sources or ()],
    )
    given = [it.sparkSession for it in (query, before) if it is not None and not callable(it)]
    command = bridge.command_line(
        "evolve", path, to="FILE.py:FUNCTION", into=to, output_mode=output_mode, apply=not dry_run
    )
    with bridge.session(command, next(iter(given), None)) as spark:
        jvm = setup.bridge()
        frames = [
            None if it is None else jvm.java_frame(it(spark) if callable(it) else it)
            for it in (query, before)
        ]
        found = bridge.answer(
            "evolve", path, frames[0], bridge.place(to, "new checkpoint"), output_mode, frames[1],
            *(_SEPARATOR.join(it) for it in asked), dry_run, command=command, spark=spark,
        )  # fmt: skip
    return result(Evolution, found)


def _operator(operator: EvolvedOperator) -> Iterator[tuple[str, str]]:
    source = "starts empty" if operator.source is None else f"takes operator {operator.source}"
    yield f"operator {operator.operator}", f"{operator.name}, {source}"
    for table in operator.tables:
        if table.name != "default" or table.merges:
            takes = "starts empty" if table.source is None else f"takes {table.source}"
            merges = ", rows of several keys are merged" if table.merges else ""
            yield "", f"  table {table.name}, {takes}{merges}"
        names = max((len(it.name) for it in table.columns), default=0)
        sources = max((len(it.source) for it in table.columns), default=0)
        for it in table.columns:
            text = f"  {it.name:<{names}} <- {it.source:<{sources}}   {it.aggregate or ''}"
            yield "", text.rstrip()
