"""The command that watches a checkpoint."""

from __future__ import annotations

import os
import sys

import click

from keyfold.cli.command import command, output, watchable
from keyfold.cli.exit_code import ExitCode
from keyfold.cli.output import JsonOutput, Output, message
from keyfold.storage.storage import Storage
from keyfold.watch.watch import watch as watch_storage


@command(
    watchable,
    click.option(
        "--interval", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS",
        help="From one look to the next: 2 by default, 5 on an object store.",
    ),
    click.option(
        "--seconds", type=click.FloatRange(min=0), metavar="SECONDS",
        help="End after so long; 0 looks once. By default it goes on until Ctrl-C.",
    ),
    output,
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
