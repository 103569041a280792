"""The group of all commands, with their output, errors and exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from keyfold.cli.exit_code import ExitCode
from keyfold.cli.output import JsonOutput, Output, TextOutput, message
from keyfold.errors import InvalidArgumentError, KeyfoldError, UnknownNameError

C = TypeVar("C", bound=Callable[..., Any])

_EPILOG = (
    "Data goes to stdout, messages to stderr. Exit codes: 0 done; 1 the answer is no (damage was "
    "found, the key does not exist); 2 wrong use; 3 the command failed."
)


@click.group(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Look inside the state of a Spark Structured Streaming query, and change it as a whole.

    CHECKPOINT is the query's checkpointLocation, a path or a URI such as s3://bucket/folder.
    Commands that read need no Spark, and the query may run meanwhile. Commands that change
    something (rescale, rollback, migrate, clone, savepoint, vacuum) start Spark.

    TABLE is an operator, by number, name or kind (agg, dedup, join, session, limit, groups, tws).
    If the operator has several tables, add the name of one: join/left, tws/count.
    """


def command(*decorators: Callable[[C], C]) -> Callable[[C], click.Command]:
    """A command with these options, and errors as messages and exit codes."""

    def decorate(function: C) -> click.Command:
        @wraps(function)
        def run(**arguments: Any) -> None:  # noqa: ANN401 - each command has its own
            kind = arguments.pop("output")
            output: Output = JsonOutput() if kind == "json" else TextOutput()
            try:
                sys.exit(function(output, **arguments) or ExitCode.DONE)
            except (InvalidArgumentError, UnknownNameError) as error:
                message(str(error))
                sys.exit(ExitCode.USAGE)
            except KeyfoldError as error:
                message(str(error))
                sys.exit(ExitCode.FAILED)
            except BrokenPipeError:
                sys.exit(ExitCode.DONE)

        found: Any = run
        for decorator in reversed(decorators):
            found = decorator(found)
        name = function.__name__.rstrip("_")
        return cli.command(name)(found)

    return decorate


output = click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True,
    help="Text, at most 1,000 rows; or JSON: one object, for tables one object a line.",
)  # fmt: skip
checkpoint = click.argument("checkpoint")
