"""The command that checks a set-up, in a session that it starts."""

from __future__ import annotations

import click

from keyfold.cli.command import command, output
from keyfold.cli.exit_code import ExitCode
from keyfold.cli.output import Output
from keyfold.session import bridge
from keyfold.setup import check as checking


@command(
    click.option("--remote", help="A Spark Connect server to check instead: sc://host:15002."),
    click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[-- SUBMIT OPTIONS]"),
    output,
)
def check(output: Output, remote: str | None, options: tuple[str, ...]) -> int | None:
    """Check the set-up of Spark, on driver and executors.

    It says what is wrong, and what to change. After --, give the options of spark-submit with which
    your query is started: --master, --properties-file, --jars, --conf. A session is started with
    them, and nothing is set but what they set; the driver is on this machine. Inside of a program,
    use keyfold.check(spark).
    """
    with bridge().session_as_submitted(options, remote) as spark:
        found = checking.check(spark)
    output.value(found.to_dict(), str(found))
    return None if found.ok else ExitCode.NO
