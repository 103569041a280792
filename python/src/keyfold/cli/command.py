"""The group of all commands, with their output, errors and exit codes."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from enum import IntEnum
from functools import wraps
from tempfile import NamedTemporaryFile
from typing import Any, TypeVar

import click

from keyfold._version import __version__
from keyfold.checkpoint import Checkpoint, open_for_command
from keyfold.cli.output import JsonOutput, Output, TextOutput, message
from keyfold.errors import InvalidArgumentError, KeyfoldError, UnknownNameError
from keyfold.table.state_table import StateTable

_MOST_SAID = 300

C = TypeVar("C", bound=Callable[..., Any])

_EPILOG = (
    "Data goes to stdout, messages to stderr. Exit codes: 0 done; 1 the answer is no (damage was "
    "found, the key does not exist, the set-up is wrong, there is something to change); 2 wrong "
    "use; 3 the command failed."
)


class ExitCode(IntEnum):
    """Exit codes; click also exits with 2 if the command line is wrong."""

    DONE = 0
    NO = 1  # it worked, and the answer is no: damage was found, or the key is not there
    USAGE = 2
    FAILED = 3  # it could not be done, for example because a file cannot be read


class _Commands(click.Group):
    """Runs a command; errors become messages and exit codes."""

    def invoke(self, ctx: click.Context) -> None:
        """As `click.Group`."""
        code: int | None
        try:
            code = super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except (InvalidArgumentError, UnknownNameError) as error:
            message(str(error))
            code = ExitCode.USAGE
        except KeyfoldError as error:
            message(str(error))
            code = ExitCode.FAILED
        except BrokenPipeError:
            code = ExitCode.DONE
        except Exception as error:  # noqa: BLE001 - the last boundary
            message(_unexpected(error))
            code = ExitCode.FAILED
        ctx.exit(code or ExitCode.DONE)


@click.version_option(__version__, prog_name="keyfold", message="%(version)s")
@click.group(
    cls=_Commands, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
def cli() -> None:
    """Look inside the state of a Spark Structured Streaming query, and change it as a whole.

    CHECKPOINT is the query's checkpointLocation, a path or a URI such as s3://bucket/folder, for
    which --storage-option and AWS's environment variables give endpoint and credentials.
    Commands that read need no Spark, and the query may run meanwhile. Commands that change
    something (rescale, rollback, migrate, clone, sync, savepoint, edit, evolve, vacuum) start
    Spark, and so does check, which needs no checkpoint.

    TABLE is an operator, by number, name or kind (agg, dedup, join, session, limit, groups, tws).
    If the operator has several tables, add the name of one: join/left, tws/count.
    """


def _made(_: click.Context, __: click.Parameter, kind: str) -> Output:
    return JsonOutput() if kind == "json" else TextOutput()


_output = click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True,
    callback=_made,
    help="Text, at most 1,000 rows; or JSON: one object, for tables one object a line.",
)  # fmt: skip


def command(*decorators: Callable[[Any], Any]) -> Callable[[Callable[..., Any]], click.Command]:
    """A command with these options and `output`; what it returns is its exit code."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        for decorator in reversed((*decorators, _output)):
            function = decorator(function)
        return cli.command()(function)

    return decorate


def _unexpected(error: Exception) -> str:
    """One line about an error that nobody foresaw; where it happened is kept in a file."""
    said = " ".join(str(error).split())[:_MOST_SAID]
    with NamedTemporaryFile("w", prefix="keyfold-", suffix=".log", delete=False) as log:
        traceback.print_exception(error, file=log)
    return (
        f"[{KeyfoldError.condition}] {type(error).__name__}: {said}. This was not expected. Please "
        f"report it with {log.name}, which tells where it happened."
    )


# A path for completion; a URI passes too, since nothing is asked to exist.
folder = click.Path()
_argument = click.argument("checkpoint", type=folder)


def pairs(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """KEY=VALUE as a dictionary."""
    found = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not key or not equals:
            # Without what was given, which may be a credential.
            raise click.BadParameter("one of them is not KEY=VALUE.")
        found[key] = value
    return found


def opened(opens: Callable[[str, dict[str, str]], object]) -> Callable[[C], C]:
    """The argument of a command that reads: it gets what `opens` makes of path and options."""

    def decorate(function: C) -> C:
        @wraps(function)
        def run(*, checkpoint: str, storage_options: dict[str, str], **others: Any) -> Any:  # noqa: ANN401 - each command has its own
            return function(checkpoint=opens(checkpoint, storage_options), **others)

        option = click.option(
            "--storage-option", "storage_options", callback=pairs, multiple=True,
            metavar="KEY=VALUE",
            help="Where and how to reach an object store, such as "
            "aws_endpoint_url=http://host:9000. Repeatable. Environment variables do as well: "
            "AWS_ENDPOINT_URL. Use them for credentials, since other users of this machine may "
            "see a command line.",
        )  # fmt: skip
        found: Any = _argument(option(run))
        return found  # type: ignore[no-any-return]

    return decorate


readable = opened(open_for_command)


def _refuse(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> None:
    if pairs(context, option, given):
        raise InvalidArgumentError(
            "Commands that change a checkpoint start Spark and take no storage options. Give Spark "
            "the settings of Hadoop's file system, in spark-defaults.conf of SPARK_CONF_DIR: "
            "spark.hadoop.fs.s3a.endpoint, .access.key, .secret.key. For what they read before "
            "Spark starts, set AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )


def changeable(function: C) -> C:
    """The argument of a command that changes: it gets the path, which Spark opens."""
    option = click.option(
        "--storage-option", callback=_refuse, multiple=True, hidden=True, expose_value=False
    )
    return _argument(option(function))


def table_of(checkpoint: Checkpoint, table: str) -> StateTable:
    """A table by the name that commands take: an operator, or OPERATOR/TABLE."""
    name, _, inner = table.partition("/")
    operator = checkpoint[name]
    return operator[inner] if inner else operator.only
