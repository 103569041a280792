"""The commands that read a checkpoint."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import click
import pyarrow as pa  # type: ignore[import-untyped]
from click.shell_completion import get_completion_class

from keyfold._version import __version__
from keyfold.checkpoint import Checkpoint, open_or_list, storage_to_watch
from keyfold.cli import admin
from keyfold.cli.command import ExitCode, cli, command, opened, table_of
from keyfold.cli.command import readable as _checkpoint
from keyfold.cli.output import JsonOutput, Output, message, progress
from keyfold.errors import InvalidArgumentError
from keyfold.spark_log.flows import Flow
from keyfold.storage.storage import Storage
from keyfold.text.units import parsed_size
from keyfold.watch.watch import watch as watch_storage

# Importing it adds its commands to the group.
__all__ = ["admin", "cli"]

_INSPECT = (
    "partitions", "files", "snapshots", "deltas", "merged-deltas", "references", "groups",
    "column-families",
)  # fmt: skip
_table = click.argument("table")
_key = click.argument("key")
_batch = click.option(
    "-b", "--batch", type=int, default=-1, show_default=True,
    help="A batch; -1 is the last committed, -2 the one before.",
)  # fmt: skip


@command(opened(open_or_list))
def describe(output: Output, checkpoint: Checkpoint | tuple[Flow, ...]) -> None:
    """Size, versions and files of the state.

    Of the storage folder of a declarative pipeline: its flows, with their newest checkpoints.
    """
    if isinstance(checkpoint, Checkpoint):
        found = checkpoint.describe()
        output.value(found.to_dict(), found)
    else:
        output.table([pa.Table.from_pylist([asdict(it) for it in checkpoint])])


@command(_checkpoint, click.argument("what", type=click.Choice([
    *_INSPECT, "skew", "batches", "operators",
])), click.option(
    "--by", type=click.Choice(["bytes", "rows"]), default="bytes", help="What skew measures."
))  # fmt: skip
def inspect(output: Output, checkpoint: Checkpoint, what: str, by: str) -> None:
    """Tables about files, partitions and key groups.

    skew reads all rows and lists the largest keys.
    """
    inspector = checkpoint.inspect
    match what:
        case "skew":
            found = inspector.skew(by).keys
        case "batches":
            found = checkpoint.batches()
        case "operators":
            found = _operators(checkpoint)
        case _:
            found = getattr(inspector, what.replace("-", "_"))()
    output.table([found])


def _operators(opened: Checkpoint) -> pa.Table:
    rows = [
        {"operator": it.id, "name": it.name, "kind": it.alias, "table": name, "holds": table.kind}
        for it in opened.operators
        for name, table in it.tables.items()
    ]
    names = ("name", "kind", "table", "holds")
    schema = pa.schema([("operator", pa.int64()), *((name, pa.string()) for name in names)])
    return pa.Table.from_pylist(rows, schema)


@command(
    _checkpoint,
    _table,
    _key,
    _batch,
    click.option("-n", "--limit", type=int, default=-1, show_default=True, help="-1 for all rows."),
)
def get(  # noqa: PLR0913 - one for each option
    output: Output, *, checkpoint: Checkpoint, table: str, key: str, batch: int, limit: int
) -> int | None:
    """The rows of one KEY, given as JSON: '{"user": 42}'.

    A column that is left out may have any value; then all rows may have to be read.
    """
    found = table_of(checkpoint, table).get(_parsed(key), batch)
    if found.num_rows:
        output.table([found if limit < 0 else found.slice(0, limit)])
        return None
    message(f"There is no row with the key {key}.")
    return ExitCode.NO


@command(
    _checkpoint,
    _table,
    click.option("-c", "--columns", help="Columns, separated by commas: key.user,value.count."),
    click.option("-w", "--where", help="A condition: key.user == 42 and value.count > 3."),
    _batch,
    click.option("-n", "--limit", type=int, default=20, show_default=True, help="-1 for all rows."),
)
def scan(  # noqa: PLR0913 - one for each option
    output: Output,
    *,
    checkpoint: Checkpoint,
    table: str,
    columns: str | None,
    where: str | None,
    batch: int,
    limit: int,
) -> None:
    """Rows of a table."""
    names = None if columns is None else [it.strip() for it in columns.split(",")]
    most = None if limit < 0 else limit
    found = table_of(checkpoint, table).scan(names, where, batch, most)
    if isinstance(output, JsonOutput) and most is None:
        output.table(pa.Table.from_batches([part]) for part in found.batches())
        return
    rows = found.to_arrow()
    output.table([rows])
    if most is not None and rows.num_rows == most:
        message(f"The first {most} rows; --limit -1 gives all.")


@command(
    _checkpoint, _table, click.argument("before", type=int),
    click.argument("after", type=int, default=-1),
)  # fmt: skip
def diff(output: Output, checkpoint: Checkpoint, table: str, before: int, after: int) -> None:
    """What changed from batch BEFORE to batch AFTER.

    AFTER is the last batch by default.
    """
    found = table_of(checkpoint, table).diff(before, after)
    output.table([found])
    if not found.num_rows:
        message("No row differs.")


# So that -2 is taken as a batch and not as an option.
diff.context_settings["ignore_unknown_options"] = True


@command(_checkpoint, _table, _key)
def history(output: Output, checkpoint: Checkpoint, table: str, key: str) -> int | None:
    """The values of one KEY, given as JSON, in all retained batches."""
    found = table_of(checkpoint, table).history(_parsed(key))
    output.table([found])
    return None if found.num_rows else ExitCode.NO


@command(
    _checkpoint,
    click.option("--deep", is_flag=True, help="Decode rows, compute their hashes, count them."),
)
def fsck(output: Output, checkpoint: Checkpoint, deep: bool) -> int | None:  # noqa: FBT001 - click's
    """Check every file that the retained batches need for damage."""
    with progress("checking") as told:
        found = checkpoint.fsck(deep=deep, progress=told)
    output.value(found.to_dict(), str(found))
    return None if found.ok else ExitCode.NO


def _size(_: click.Context, __: click.Parameter, given: str | None) -> int | None:
    found = None if given is None else parsed_size(given)
    if given is not None and not found:
        raise click.BadParameter(f"{given!r} is not a size above 0, such as 512m or 4g.")
    return found


@command(
    _checkpoint,
    click.option("--cores", type=click.IntRange(1), help="Cores of all executors together."),
    click.option(
        "--memory", callback=_size, metavar="SIZE",
        help="Memory budgets of all executors together, such as 512m or 4g.",
    ),
)  # fmt: skip
def doctor(
    output: Output, checkpoint: Checkpoint, cores: int | None, memory: int | None
) -> int | None:
    """Advice: what is ill, what to change, what that brings.

    Partitions, skew, snapshots, retention, files, memory. The exit code is 1 if there is something
    to change. Cores and memory are in no file: what needs them is judged if you give them.
    """
    found = checkpoint.doctor(cores=cores, memory_bytes=memory)
    output.value(found.to_dict(), str(found))
    return None if found.ok else ExitCode.NO


@command(
    opened(storage_to_watch),
    click.option(
        "--interval", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS",
        help="From one look to the next: 2 by default, 5 on an object store.",
    ),
    click.option(
        "--seconds", type=click.FloatRange(min=0), metavar="SECONDS",
        help="End after so long; 0 looks once. By default it goes on until Ctrl-C.",
    ),
)  # fmt: skip
def watch(
    output: Output, checkpoint: Storage, interval: float | None, seconds: float | None
) -> None:
    """Batches, state and skew of a query while it runs.

    The query runs anywhere, or has not begun. Without a terminal, or with -o json, prints a line
    for each batch: the last ten, then each one when it is committed.
    """
    as_json = isinstance(output, JsonOutput)
    looks = watch_storage(checkpoint, interval=interval, seconds=seconds, as_json=as_json)
    if looks.is_looking:
        # The storage does not answer, and Python would wait for the threads that ask it.
        sys.stdout.flush()
        if looks.is_late:
            message(f"{looks.path} has not answered for {looks.waited_s:.0f} s.")
        os._exit(ExitCode.FAILED if looks.is_late and not looks.has_seen else ExitCode.DONE)


@command(_checkpoint, click.argument("file", type=click.Path(dir_okay=False)))
def report(output: Output, checkpoint: Checkpoint, file: str) -> None:
    """Write a report with charts, one HTML page, to FILE."""
    with progress("reading") as told:
        checkpoint.report(file, progress=told)
    output.value({"file": file}, file)


@command()
def version(output: Output) -> None:
    """The version of this program."""
    output.value({"version": __version__}, __version__)


@command(click.argument("shell", type=click.Choice(["bash", "zsh", "fish"])))
def completion(output: Output, shell: str) -> None:
    """Print the completion script for a SHELL.

    Use it like this: eval "$(keyfold completion bash)"
    """
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - click has these three
    script = kind(cli, {}, "keyfold", "_KEYFOLD_COMPLETE").source()
    output.value({"script": script}, script)


def _parsed(key: str) -> Mapping[str, Any]:
    found, why = None, ""
    try:
        found = json.loads(key)
    except ValueError as error:
        why = f" {error}."
    if not isinstance(found, dict):
        raise InvalidArgumentError(
            f"Invalid key {key!r}:{why} Give an object of JSON, such as '{{\"user\": 42}}'."
        )
    return found
