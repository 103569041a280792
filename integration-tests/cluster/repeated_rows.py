"""Input in which every row comes twice, and what counts by minute and key must say of it."""

import json
import os
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path

Row = tuple[int, int, int, int]

ROWS_PER_FILE = 200
KEYS = 7
# Minutes since 1970. Rows of 1970 itself would be late from the start.
FIRST_MINUTE = 28_000_000


def write_files(folder: Path, first: int, last: int) -> None:
    """Writes files `first` to `last`. Each has the rows of its own minute and of the one before."""
    folder.mkdir(exist_ok=True)
    for file in range(first, last + 1):
        _write(folder, file, [*ids_of(file), *ids_of(max(file - 1, 0))])


def write_end(folder: Path, file: int) -> None:
    """Writes a last file, of one row so late that every window before it ends."""
    _write(folder, file, [ids_of(file + 60)[0]])


def ids_of(file: int) -> range:
    """Ids of the rows that a file brings first."""
    return range(file * ROWS_PER_FILE, (file + 1) * ROWS_PER_FILE)


def expected(files: int) -> list[Row]:
    """Minute, key, number of rows and sum of their ids, when files 0 to `files` - 1 are counted."""
    rows: Counter[tuple[int, int]] = Counter()
    totals: Counter[tuple[int, int]] = Counter()
    for file in range(files):
        for row in ids_of(file):
            where = (FIRST_MINUTE + file, row % KEYS)
            rows[where] += 1
            totals[where] += row
    return sorted((*where, rows[where], totals[where]) for where in rows)


def written(output: Path, batches: Iterable[int]) -> list[Row]:
    """What these batches wrote, each to a folder of its number; a row that came twice is twice."""
    lines = [
        json.loads(line)
        for batch in batches
        for part in (output / str(batch)).glob("part-*")
        for line in part.read_text().splitlines()
    ]
    return sorted((it["minute"], it["key"], it["rows"], it["total"]) for it in lines)


def _write(folder: Path, file: int, ids: Iterable[int]) -> None:
    """The ids, each with a time in the minute of the file that it belongs to."""
    lines = [json.dumps({"id": row, "at": _time(row)}) for row in ids]
    hidden = folder / f".{file:03d}"
    hidden.write_text("\n".join(lines))
    # Spark takes files in the order of their modification times.
    modified = (FIRST_MINUTE + file) * 60
    os.utime(hidden, (modified, modified))
    hidden.rename(folder / f"{file:03d}.json")


def _time(row: int) -> str:
    seconds = FIRST_MINUTE * 60 + row * 60 // ROWS_PER_FILE
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat()
