"""Writes state from a table: seeds a new query, corrects a few keys, rewrites all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keyfold.admin.write import StateWrite, write
from keyfold.checkpoint import Checkpoint, open_checkpoint
from keyfold.errors import InvalidArgumentError

if TYPE_CHECKING:
    import os

    import pyarrow as pa  # type: ignore[import-untyped]
    from pyspark.sql import DataFrame

    from keyfold.table.operator import Operator


def write_state(  # noqa: PLR0913 - one for each thing that users choose
    rows: DataFrame | pa.Table | None,
    path: str | os.PathLike[str],
    *,
    operator: int | str | None = None,
    table: str | None = None,
    delete: DataFrame | pa.Table | None = None,
    replace: bool = False,
    dry_run: bool = True,
) -> StateWrite:
    """Puts rows into the state of a stopped query, and deletes others, as a batch of its own.

    The batch reads no data. The query goes on with the changed state, and
    `open_checkpoint(path).rollback(last_batch)` undoes the write. The query must have committed a
    batch, which has the schema of its state. Of transformWithState values and maps without TTL are
    written, of other operators all but joins.

    Args:
        rows: rows to put in place of those of the same keys, with the columns that the table has
            when it is read (`StateTable.schema`, and Spark's `statestore` source): `key`, `value`;
            of a map `key`, `user_map_key`, `user_map_value`. A column `partition_id` does not
            count. Columns are found by name, their fields must be in the table's order, and types
            are cast as an INSERT does. A null is refused where the schema of the state has none,
            which since Spark 4.3 is nowhere. A DataFrame of a classic session, or a table of
            Arrow. A task keeps the keys of its partition's rows in memory.
        path: checkpoint of a stopped query.
        operator: number, name or kind of the stateful operator, if there are several.
        table: name of its table, if it has several.
        delete: keys of rows to delete; other columns of the table do not count. Keys that are not
            there are passed over.
        replace: delete all other rows of the table.
        dry_run: only check.

    Raises:
        InvalidArgumentError: no rows or keys are given, or an operator or table must be named.
        UnknownNameError: there is no such operator or table.
        ClassicSessionError: the DataFrame is of a Spark Connect session.
        JvmError: it is refused, rows do not fit the table, or two of them have the same key.
    """
    source = _operator(open_checkpoint(path), operator)
    chosen = source.only if table is None else source[table]
    family = chosen.source.layout.family
    return write(path, source.id, family, rows, delete, replace=replace, dry_run=dry_run)


def _operator(checkpoint: Checkpoint, name: int | str | None) -> Operator:
    if name is not None:
        return checkpoint[name]
    known = checkpoint.operators
    if len(known) != 1:
        raise InvalidArgumentError(
            f"{checkpoint.path} has {len(known)} stateful operators. Name one with `operator`: "
            f"{', '.join(f'{it.id} {it.name} ({it.alias})' for it in known) or 'none'}."
        )
    return known[0]
