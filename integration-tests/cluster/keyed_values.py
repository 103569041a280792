"""Input of 41 keys, and what an aggregation per key must say of it."""

import json
from pathlib import Path

FILES = 3
ROWS_PER_FILE = 500
KEYS = 41


def write_input(folder: Path, first: int, files: int = FILES) -> None:
    """Writes files from number `first` on. Each brings each key 12 or 13 times."""
    folder.mkdir(exist_ok=True)
    for file in range(first, first + files):
        values = range(file * ROWS_PER_FILE, (file + 1) * ROWS_PER_FILE)
        lines = (json.dumps({"key": value % KEYS, "value": value}) for value in values)
        (folder / f"{file:03d}.json").write_text("\n".join(lines))


def expected(files: int) -> list[tuple[int, int, int]]:
    """Key, number of rows and sum of values, by key."""
    values = range(files * ROWS_PER_FILE)
    per_key = [[v for v in values if v % KEYS == key] for key in range(KEYS)]
    return [(key, len(vs), sum(vs)) for key, vs in enumerate(per_key)]


def rows_of(folder: Path) -> list[tuple[int, int, int]]:
    """The same as a job has written it."""
    lines = [line for part in folder.glob("part-*") for line in part.read_text().splitlines()]
    rows = [json.loads(line) for line in lines]
    return sorted((row["key"], row["rows"], row["total"]) for row in rows)
