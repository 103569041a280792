"""Puts and deletes rows in the state of a stopped query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from keyfold import session as setup
from keyfold.admin import bridge
from keyfold.admin.bridge import lines, result
from keyfold.errors import InvalidArgumentError
from keyfold.text.units import count

if TYPE_CHECKING:
    import os

    import pyarrow as pa  # type: ignore[import-untyped]
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class StateWrite:
    """A write of rows into a table of state, planned or done.

    Attributes:
        checkpoint: location, with scheme.
        operator: number of the stateful operator.
        table: name of the column family that has the rows, of a join's side, or `timers`.
        last_batch: the newest committed batch; the next batch is the write's.
        put: number of rows that were put; None: it was not done.
        deleted: number of rows that were there, under keys that have none any more; None: it was
            not done, or all other rows of the table were deleted.
        warnings: what to check before it.
        refusals: the reasons why it cannot be done, a sentence each.
        applied: whether it was done.
    """

    checkpoint: str
    operator: int
    table: str
    last_batch: int
    warnings: tuple[str, ...]
    refusals: tuple[str, ...]
    applied: bool
    put: int | None = None
    deleted: int | None = None

    def __str__(self) -> str:
        """For a terminal."""
        rows = [
            ("checkpoint", self.checkpoint),
            ("table", f"{self.table} of operator {self.operator}"),
            ("last batch", str(self.last_batch)),
        ]
        if self.put is not None:
            others = "all others" if self.deleted is None else count(self.deleted)
            done = f"batch {self.last_batch + 1}: {count(self.put)} rows put, {others} deleted"
            undo = bridge.command_line(
                "rollback", self.checkpoint, to_batch=self.last_batch, apply=True
            )
            rows += [("done", done), ("to undo", undo)]
        else:
            rows += [("warning", it) for it in self.warnings]
        return lines(rows, applied=self.applied, refusals=self.refusals)


def write(  # noqa: PLR0913 - one for each thing that users choose
    path: str | os.PathLike[str],
    operator: int,
    name: str,
    put: DataFrame | pa.Table | None,
    delete: DataFrame | pa.Table | None,
    *,
    replace: bool,
    dry_run: bool,
) -> StateWrite:
    """The same as `keyfold.write_state`, by number of the operator and `edits.written_name`."""
    if put is None and delete is None:
        raise InvalidArgumentError("Give rows to put, keys of rows to delete, or both.")
    if replace and put is None:
        raise InvalidArgumentError(
            "replace=True deletes all rows but those that are put: give some."
        )
    table = operator if name == "default" else f"{operator}/{name}"
    files = {
        "put": None if put is None else "rows.parquet",
        "delete": None if delete is None else "keys.parquet",
    }
    command = bridge.command_line("edit", path, table, **files, replace=replace, apply=not dry_run)
    given = [it.sparkSession for it in (put, delete) if it is not None and _is_frame(it)]
    with bridge.session(command, next(iter(given), None)) as spark:
        frames = [_frame(spark, it) for it in (put, delete)]
        arguments = (operator, name, *frames, replace, dry_run)
        found = bridge.answer("write", path, *arguments, command=command, spark=spark)
    return result(StateWrite, found)


def _frame(spark: SparkSession, rows: DataFrame | pa.Table | None) -> Any:  # noqa: ANN401
    """Rows as a DataFrame of the JVM."""
    if rows is None:
        return None
    frame = rows if _is_frame(rows) else setup.bridge().frame_of(spark, rows)
    return setup.bridge().java_frame(frame)


def _is_frame(rows: DataFrame | pa.Table) -> bool:
    # PySpark need not be there to have a table of Arrow.
    return hasattr(rows, "sparkSession")
