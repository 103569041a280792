"""A line for each batch, for pipes and files."""

from __future__ import annotations

import sys

from keyfold.text.json_text import json_text
from keyfold.text.printable import printable
from keyfold.watch.batch import WatchedBatch
from keyfold.watch.look import Look
from keyfold.watch.loop import Looks, Seen
from keyfold.watch.words import failed, headline, line


def write_lines(looks: Looks, *, as_json: bool = False) -> None:
    """Writes a line to stdout for each batch when it is seen, until `looks` end.

    At first these are the last ten batches. What else happens is told on stderr.
    """
    said: set[str] = set()
    known: set[WatchedBatch] = set()
    for seen in looks:
        now = _sayings(looks, seen, first=not said)
        for text in now:
            if text not in said:
                sys.stderr.write(printable(text) + "\n")
        said = {*now, ""}
        if isinstance(seen, Look):
            for it in seen.batches:
                if it not in known:
                    found = {"query_id": seen.query_id} | it.to_dict()
                    sys.stdout.write((json_text(found) if as_json else line(it)) + "\n")
            known = set(seen.batches)
            sys.stdout.flush()


def _sayings(looks: Looks, seen: Seen, *, first: bool) -> list[str]:
    """What is not a batch; what was said after the look before is not said again."""
    if not isinstance(seen, Look):
        return [failed(seen, looks.interval)]
    parts = [headline(seen, seen.looked_ms)] if first else []
    return [*parts, *([seen.note] if seen.note else []), *seen.problems]
