"""Watches a checkpoint where it can be shown: a notebook, a terminal, or lines in a pipe."""

from __future__ import annotations

import sys
from contextlib import suppress

from rich.console import Console

from keyfold.storage.storage import Storage
from keyfold.text.json_text import json_text
from keyfold.text.printable import printable
from keyfold.watch.batch import WatchedBatch
from keyfold.watch.look import Look
from keyfold.watch.loop import Looks, Seen
from keyfold.watch.page import is_notebook, show_in_cell
from keyfold.watch.screen import show
from keyfold.watch.words import failed, headline, line


def write_lines(looks: Looks, *, as_json: bool = False) -> None:
    """Writes a line to stdout for each batch when it is seen, until `looks` end.

    At first these are the last ten batches. What else happens is told on stderr.
    """
    said: set[str] = set()
    known: set[WatchedBatch] = set()
    last: tuple[str | None, int] | None = None
    for seen in looks:
        now = _sayings(looks, seen, first=not said)
        for text in now:
            if text not in said:
                sys.stderr.write(printable(text) + "\n")
        said = {*now, ""}
        if isinstance(seen, Look):
            for it in seen.batches:
                if it not in known:
                    if last is not None and last[0] == seen.query_id:
                        sys.stderr.write(_gap(last[1], it.batch_id))
                    last = seen.query_id, it.batch_id
                    found = {"query_id": seen.query_id} | it.to_dict()
                    sys.stdout.write((json_text(found) if as_json else line(it)) + "\n")
            known = set(seen.batches)
            sys.stdout.flush()


def _gap(before: int, number: int) -> str:
    """What is said of batches that were not seen: retention may be faster than looks."""
    if number <= before + 1:
        return ""
    which = (
        f"Batch {number - 1} was"
        if number == before + 2
        else (f"Batches {before + 1} to {number - 1} were")
    )
    return f"{which} gone before the next look and cannot be shown: look at shorter intervals.\n"


def _sayings(looks: Looks, seen: Seen, *, first: bool) -> list[str]:
    """What is not a batch; what was said after the look before is not said again."""
    if not isinstance(seen, Look):
        return [failed(seen, looks.interval)]
    parts = [headline(seen, seen.looked_ms)] if first else []
    return [*parts, *([seen.note] if seen.note else []), *seen.problems]


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
