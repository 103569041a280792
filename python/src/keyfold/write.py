"""Writes state from a table: seeds a new query, corrects a few keys, rewrites all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keyfold import session as setup
from keyfold.admin import bridge
from keyfold.admin.write import StateWrite, write
from keyfold.checkpoint import Checkpoint, open_checkpoint
from keyfold.errors import ClassicSessionError, InvalidArgumentError
from keyfold.table.edits import written_name

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
    `open_checkpoint(path).rollback(last_batch)` undoes the write. A query that has not run gets its
    checkpoint by `bootstrap`. Not written are the state of an operator's subtasks, which
    `redistribute` changes as a whole, and that of a join with state format 4.

    Of a list and of a join's side, the given rows are all that their keys have afterwards, in the
    order of the DataFrame. A join, and transformWithState with several variables, takes one call
    for each table. Offsets and watermark stay as they are: the next batch removes rows that are
    behind the watermark. Since 4.2 Spark looks for what expires after the time of the last batch
    only: it does not remove what was due before.

    Args:
        rows: rows to put in place of those of the same keys, with the columns that the table has
            when it is read (`StateTable.schema`, and Spark's `statestore` source): `key`, `value`;
            of a map `key`, `user_map_key`, `user_map_value`; of a list `key`, `list_element`; of
            timers `key`, `expiration_timestamp_ms`; of a join's side `key`, `value`, `matched`: an
            outer join returns a row without a partner when it removes it. A column `partition_id`
            does not count. Columns are found by name, their fields must be in the table's order,
            and types are cast as an INSERT does: a time without a zone is one of the session's
            zone. A null is refused where the schema of the state has none, but for elements of
            arrays and maps; since Spark 4.3 that is nowhere. A DataFrame of a classic session, or a
            table of Arrow. A task keeps the keys of its partition's rows in memory, unless the
            table is replaced, or has no rows.
        path: checkpoint of a stopped query.
        operator: number, name or kind of the stateful operator, if there are several.
        table: name of its table, if it has several.
        delete: keys of rows to delete; other columns of the table do not count. Keys that are not
            there are passed over.
        replace: delete all other rows of the table. If it is all that its stores have, and no
            rescale was soon before, the old rows are not read, and the change feed begins after
            the write; without `replace` too, if the table has no rows.
        dry_run: only check.

    Raises:
        InvalidArgumentError: no rows or keys are given, or an operator or table must be named.
        UnknownNameError: there is no such operator or table.
        ClassicSessionError: the DataFrame is of a Spark Connect session.
        JvmError: it is refused, rows do not fit the table, or two of them have the same key.
    """
    source = _operator(open_checkpoint(path), operator)
    chosen = source.only if table is None else source[table]
    name = written_name(chosen.source.layout)
    return write(path, source.id, name, rows, delete, replace=replace, dry_run=dry_run)


def bootstrap(
    query: DataFrame,
    path: str | os.PathLike[str],
    *,
    output_mode: str = "append",
    watermark_ms: int = 0,
) -> Checkpoint:
    """Makes the checkpoint of a query that has not run, for `write_state`.

    Spark runs the first batch of the query over sources without rows, and its output is dropped.
    The query, started with this checkpoint, goes on with the state that it was given meanwhile, and
    reads its sources from where they are told to begin. A static side of a join is read. If the
    query has an initial state, that is in the checkpoint, and the output for it is dropped too.

    Args:
        query: what the query's `writeStream` is called on, of a classic session that has Keyfold.
        path: the checkpoint; nothing may be there. A folder beside it is made and deleted again.
        output_mode: the query's: append, update or complete.
        watermark_ms: the watermark that it begins with, in milliseconds since 1970: that of the
            state it is given. Rows behind it are too late.

    Returns:
        The checkpoint, with a table for each that can be written.

    Raises:
        ClassicSessionError: the DataFrame is of a Spark Connect session.
        JvmError: it is refused, or the query fails.
    """
    jvm, spark = setup.bridge(), query.sparkSession
    if jvm.is_connect_session(spark):
        raise ClassicSessionError(
            "Making the checkpoint of a query needs a JVM in this process, which Spark Connect does"
            " not have. Run the script with spark-submit where the checkpoint can be reached."
        )
    setup.check_loaded(jvm)
    arguments = (jvm.java_frame(query), bridge.place(path), output_mode, watermark_ms)
    jvm.call(spark, bridge.API, "bootstrap", *arguments)
    return open_checkpoint(path)


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
