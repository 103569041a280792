"""Rows and links to them, and the files that queries read them from.

Times are minutes since `START`.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

# Minutes since 1970: 2026-01-01 00:00 UTC.
START = 29_453_760
# Behind the newest row seen, in minutes: nothing but what is meant to be is late.
DELAY = 90
# Of a last row, so late that the watermark passes everything else.
END = 100_000

ROW_SCHEMA = "id long, key string, value long, at timestamp"
LINK_SCHEMA = "ref long, linked timestamp"


@dataclass(frozen=True, order=True)
class Row:
    """A row of the first stream."""

    id: int
    key: str
    value: int
    minute: int


@dataclass(frozen=True)
class Link:
    """A row of the second stream: points at a row of the first, before it."""

    ref: int
    minute: int


def line_of(it: Row | Link) -> str:
    """One as a JSON object of its stream's schema."""
    if isinstance(it, Link):
        return json.dumps({"ref": it.ref, "linked": _time(it.minute)})
    return json.dumps({"id": it.id, "key": it.key, "value": it.value, "at": _time(it.minute)})


def write_file(folder: Path, file: int, rows: Iterable[Row], links: Iterable[Link]) -> None:
    """Writes a file into each of `rows` and `links`; Spark takes them in the order of numbers."""
    for name, its in (("rows", rows), ("links", links)):
        path = folder / name / f"{file}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(map(line_of, its)))
        os.utime(path, (START + file, START + file))


def _time(minute: int) -> str:
    since_1970 = timedelta(minutes=START + minute)
    return (datetime.fromtimestamp(0, timezone.utc) + since_1970).isoformat()
