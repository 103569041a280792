"""Watches a checkpoint where it can be shown: a notebook, a terminal, or a pipe."""

from __future__ import annotations

from contextlib import suppress

from rich.console import Console

from keyfold.storage.storage import Storage
from keyfold.watch.lines import write_lines
from keyfold.watch.loop import Looks
from keyfold.watch.notebook import is_notebook, show_in_cell
from keyfold.watch.screen import show


def watch(
    storage: Storage,
    *,
    interval: float | None = None,
    seconds: float | None = None,
    as_json: bool = False,
) -> Looks:
    """Watches until it is interrupted, or until `seconds` are over; see `Checkpoint.watch`.

    Returns the looks: their last one may not have ended.
    """
    looks = Looks(storage, interval, seconds)
    console = Console(highlight=False)
    # That is how it is ended.
    with suppress(KeyboardInterrupt):
        if as_json:
            write_lines(looks, as_json=True)
        elif is_notebook():
            show_in_cell(looks)
        elif console.is_terminal and not console.is_dumb_terminal:
            show(looks, console)
        else:
            write_lines(looks)
    return looks
