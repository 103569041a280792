"""A checkpoint in the output of a notebook's cell, which is replaced again and again."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from keyfold.watch.batch import WatchedBatch
from keyfold.watch.look import Look
from keyfold.watch.loop import Looks
from keyfold.watch.page import page, plots
from keyfold.watch.words import failed


def is_notebook() -> bool:
    """Whether this is the kernel of a notebook, whose cells show HTML."""
    # A kernel has imported it; IPython in a terminal has no kernel.
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")


def show_in_cell(looks: Looks) -> None:
    """Shows the looks in one output of the cell until they end; the last one stays there."""
    display: Any = import_module("IPython.display")
    handle = display.display(display.HTML("looking ..."), display_id=True)
    look: Look | None = None
    drawn: tuple[tuple[WatchedBatch, ...], str] = ((), "")
    for seen in looks:
        message = ""
        if isinstance(seen, Look):
            look = seen
        else:
            message = failed(seen, looks.interval)
        look = look or Look(looks.path)
        if look.batches != drawn[0]:
            drawn = look.batches, plots(look)
        handle.update(display.HTML(page(look, drawn[1], message)))
