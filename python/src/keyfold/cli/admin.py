"""Commands that start a JVM: those that change a checkpoint, and the check of a set-up.

All but those that only add something plan, until --apply is given.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import click

from keyfold import session as setup
from keyfold.admin import bridge
from keyfold.admin import evolve as evolving
from keyfold.admin import migrate as migrating
from keyfold.admin import redistribute as redistributing
from keyfold.admin import rescale as rescaling
from keyfold.admin import rollback as rolling
from keyfold.admin import sync as syncing
from keyfold.admin.write import write
from keyfold.checkpoint import open_checkpoint, require_checkpoint
from keyfold.cli.command import ExitCode, changeable, command, folder, pairs, table_of
from keyfold.cli.output import Output, message
from keyfold.cli.user_files import load_query, read_rows
from keyfold.errors import InvalidArgumentError, JvmError
from keyfold.setup import check as checking
from keyfold.table.edits import edits, written_name

_apply = click.option("--apply", "applies", is_flag=True, help="Do it; without this, only plan.")


def _show(output: Output, found: Any) -> int | None:  # noqa: ANN401 - results of operations
    """Prints a result, or a plan; the answer is no if that is refused."""
    output.value(asdict(found), str(found))
    return ExitCode.NO if getattr(found, "refusals", ()) else None


@command(
    changeable,
    click.option("--to", "partitions", type=int, help="Number of partitions."),
    click.option("--operator", help="Redistribute the state of this operator's subtasks instead."),
    click.option("--parallelism", type=int, help="With --operator: number of subtasks."),
    click.option("--undo", "gives_up", is_flag=True, help="Undo a rescale before an open batch."),
    _apply,
)
def rescale(  # noqa: PLR0913 - one for each option
    output: Output,
    *,
    checkpoint: str,
    partitions: int | None,
    operator: str | None,
    parallelism: int | None,
    gives_up: bool,
    applies: bool,
) -> int | None:
    """Change the number of partitions of a stopped query.

    It takes seconds. With --operator, the number of an operator's subtasks.
    """
    if [partitions is None, operator is None, not gives_up].count(False) != 1:
        raise InvalidArgumentError("Give one of --to, --operator and --undo.")
    if (operator is None) != (parallelism is None):
        raise InvalidArgumentError("Give --operator and --parallelism together.")
    require_checkpoint(checkpoint)
    if operator is not None and parallelism is not None:
        dealt = redistributing.redistribute(checkpoint, operator, parallelism, dry_run=not applies)
        return _show(output, dealt)
    if partitions is None:
        return _show(output, rescaling.undo_rescale(checkpoint, dry_run=not applies))
    found = rescaling.rescale(checkpoint, partitions, dry_run=not applies)
    output.value(found.details, str(found))
    return ExitCode.NO if found.refusals else None


@command(
    changeable,
    click.option("--undo", "gives_up", is_flag=True, help="Undo the migration."),
    _apply,
)
def migrate(output: Output, *, checkpoint: str, gives_up: bool, applies: bool) -> int | None:
    """Convert state of HDFSBacked or RocksDB to Keyfold's.

    The query must be stopped.
    """
    require_checkpoint(checkpoint)
    work = migrating.undo_migration if gives_up else migrating.migrate
    return _show(output, work(checkpoint, dry_run=not applies))


@command(
    changeable,
    click.option("--to-batch", "batch", type=int, help="The batch that becomes the last one."),
    click.option("--undo", "aside", help="Put back the files that this rollback set aside."),
    click.option(
        "--sink-path",
        type=folder,
        help="Folder of the query's file sink, whose log goes back too; or of its Delta or Iceberg "
        "table, for which the plan has the SQL that takes it back.",
    ),
    _apply,
)
def rollback(  # noqa: PLR0913 - one for each option
    output: Output,
    *,
    checkpoint: str,
    batch: int | None,
    aside: str | None,
    sink_path: str | None,
    applies: bool,
) -> None:
    """Take a stopped query back to an earlier batch.

    Newer files are set aside, and --undo puts them back.
    """
    if (batch is None) == (aside is None):
        raise InvalidArgumentError("Give one of --to-batch and --undo.")
    if batch is not None:
        found = open_checkpoint(checkpoint).rollback(
            batch, dry_run=not applies, sink_path=sink_path
        )
    elif applies and aside is not None:
        found = rolling.undo_rollback(checkpoint, aside)
    else:
        raise InvalidArgumentError("--undo has no plan to show; give --apply as well.")
    _show(output, found)


@command(
    changeable,
    click.argument("to", type=folder),
    click.option("-b", "--batch", type=int, help="A batch; the last committed by default."),
    click.option("--dry-run", is_flag=True, help="Only show what would be copied."),
    click.option(
        "--sink-path",
        type=folder,
        help="Folder of the query's Delta or Iceberg table, if the new query goes on with it: "
        "prints the SQL that takes the table back to the batch.",
    ),
)
def clone(  # noqa: PLR0913 - one for each option
    output: Output,
    *,
    checkpoint: str,
    to: str,
    batch: int | None,
    dry_run: bool,
    sink_path: str | None,
) -> None:
    """Copy one batch to the folder TO, for a new query."""
    opened = open_checkpoint(checkpoint)
    _show(output, opened.clone(to, batch=batch, dry_run=dry_run, sink_path=sink_path))


@command(
    changeable,
    click.argument("to", type=folder),
    click.option(
        "--every", "seconds", type=click.FloatRange(min=1),
        help="Again after so many seconds, until Ctrl-C.",
    ),
)  # fmt: skip
def sync(output: Output, *, checkpoint: str, to: str, seconds: float | None) -> None:
    """Keep a copy in the folder TO, for the same query elsewhere.

    The query may run. Only what is new is copied. To go on there, end the syncs and start the query
    with TO as its checkpointLocation.
    """
    require_checkpoint(checkpoint)
    succeeded = False
    # One for all: it takes seconds to start.
    session = bridge.session(bridge.command_line("sync", checkpoint, to), None)
    with session as spark, suppress(*([KeyboardInterrupt] if seconds else [])):
        while True:
            began = time.monotonic()
            try:
                _show(output, syncing.sync(checkpoint, to, spark=spark))
                sys.stdout.flush()
                succeeded = True
            except JvmError as error:
                lasts = error.condition in syncing.LASTING
                if (
                    seconds is None
                    or lasts
                    or not (succeeded or error.condition in syncing.PASSING)
                ):
                    raise
                message(f"{error} The next sync tries again.")
            if seconds is None:
                return
            time.sleep(max(0, began + seconds - time.monotonic()))


@command(changeable, click.argument("name", required=False))
def savepoint(output: Output, *, checkpoint: str, name: str | None) -> None:
    """Copy the newest batch to a savepoint NAME, which is kept.

    Without NAME, list the savepoints.
    """
    opened = open_checkpoint(checkpoint)
    if name is None:
        names = opened.savepoints()
        output.value({"savepoints": list(names)}, "\n".join(names))
    else:
        _show(output, opened.savepoint(name))


@command(
    changeable,
    click.argument("table"),
    click.option(
        "--put", type=folder, help="File with rows to put in place of those of their keys."
    ),
    click.option("--delete", type=folder, help="File with keys of rows to delete."),
    click.option("--replace", is_flag=True, help="Delete all rows that are not put."),
    _apply,
)
def edit(  # noqa: PLR0913 - one for each option
    output: Output,
    *,
    checkpoint: str,
    table: str,
    put: str | None,
    delete: str | None,
    replace: bool,
    applies: bool,
) -> int | None:
    """Put and delete rows of a stopped query's state.

    A file has an object of JSON on each line, as scan -o json prints the rows, or is Parquet.
    Without --apply, the changes are shown.
    """
    if put is None and delete is None:
        raise InvalidArgumentError("Give --put, --delete or both.")
    if replace and put is None:
        raise InvalidArgumentError("Give --put with --replace.")
    chosen = table_of(open_checkpoint(checkpoint), table)
    rows = None if put is None else read_rows(put, chosen.schema, keys_only=False)
    keys = None if delete is None else read_rows(delete, chosen.schema, keys_only=True)
    if not applies:
        output.table([edits(chosen, rows, keys, replace=replace)])
    source = chosen.source
    found = write(
        checkpoint, source.operator.id, written_name(source.layout), rows, keys,
        replace=replace, dry_run=not applies,
    )  # fmt: skip
    return _show(output, found)


@command(
    changeable,
    click.option(
        "--to", "query", metavar="FILE.py:FUNCTION", required=True,
        help="The changed query: a function that takes a session and returns what writeStream is "
        "called on.",
    ),
    click.option("--into", "to", type=folder, required=True, help="Folder of its checkpoint."),
    click.option(
        "--output-mode", type=click.Choice(["append", "update", "complete"]), default="append",
        show_default=True, help="The changed query's.",
    ),
    click.option(
        "--from", "before", metavar="FILE.py:FUNCTION",
        help="The query before: says which aggregate each column is of, where names do not.",
    ),
    click.option(
        "--map", "mapping", multiple=True, metavar="OLD=NEW", callback=pairs,
        help="Operator NEW takes the state of operator OLD, or a table, as 0/total=0/sum. "
        "Repeatable.",
    ),
    click.option(
        "--set", "values", multiple=True, metavar="COLUMN=SQL", callback=pairs,
        help="An expression over the old rows, as 0.value.sum='value.count * 10', or "
        "0/left.value.city=... of a named table. Repeatable.",
    ),
    click.option(
        "--sources", metavar="0,new,...",
        help="For each source of the changed query that of the checkpoint, or new.",
    ),
    _apply,
)  # fmt: skip
def evolve(  # noqa: PLR0913 - one for each option
    output: Output,
    *,
    checkpoint: str,
    query: str,
    to: str,
    output_mode: str,
    before: str | None,
    mapping: dict[str, str],
    values: dict[str, str],
    sources: str | None,
    applies: bool,
) -> int | None:
    """Make the checkpoint of a changed query, with this one's state.

    The query must be stopped. Its checkpoint is only read. The plan says where each column comes
    from and what is lost.
    """
    require_checkpoint(checkpoint)
    queries = load_query(query), None if before is None else load_query(before)
    found = evolving.evolve(
        checkpoint, queries[0], to, output_mode=output_mode, before=queries[1], mapping=mapping,
        values=values, sources=None if sources is None else _sources(sources), dry_run=not applies,
    )  # fmt: skip
    return _show(output, found)


def _sources(text: str) -> list[int | None]:
    try:
        return [None if it.strip() == "new" else int(it) for it in text.split(",")]
    except ValueError:
        raise InvalidArgumentError(
            f"Invalid --sources '{text}': give numbers and new, such as 0,new."
        ) from None


@command(
    changeable,
    click.option(
        "--older-than-hours", type=float, default=24, show_default=True,
        help="Keep files that have changed since.",
    ),
    _apply,
)  # fmt: skip
def vacuum(output: Output, *, checkpoint: str, older_than_hours: float, applies: bool) -> None:
    """Delete files that no batch needs.

    They are those that fsck reports as unreferenced.
    """
    found = open_checkpoint(checkpoint).vacuum(
        older_than_hours=older_than_hours, dry_run=not applies
    )
    _show(output, found)


@command(
    click.option("--remote", help="A Spark Connect server to check instead: sc://host:15002."),
    click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[-- SUBMIT OPTIONS]"),
)
def check(output: Output, remote: str | None, options: tuple[str, ...]) -> int | None:
    """Check the set-up of Spark, on driver and executors.

    It says what is wrong, and what to change. After --, give the options of spark-submit with which
    your query is started: --master, --properties-file, --jars, --conf. A session is started with
    them, and nothing is set but what they set; the driver is on this machine. Inside of a program,
    use keyfold.check(spark).
    """
    with setup.bridge().session_as_submitted(options, remote) as spark:
        found = checking.check(spark)
    output.value(found.to_dict(), str(found))
    return None if found.ok else ExitCode.NO
