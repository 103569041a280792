"""Input of the queries of `metrics_job.py`, and what follows from it."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path

from cluster.metrics_job import PLACED, QUERIES, TOTALS, WINDOWS

FILES = 6
# Each order comes twice. Those of a file are of 20 seconds, and then come those of the next 20.
ORDERS, LATE = 100, 7
SECONDS_PER_FILE = 20
DELAY_S = WINDOW_S = 10
KEYS, NUMBERS = 60_000, 50
_START_S = 1_800_000_000

Row = dict[str, object]


class Input:
    """The files that the queries read, in `folder`."""

    def __init__(self, folder: Path) -> None:
        """Writes the files of the first batches."""
        self._folder = folder
        self._written = dict.fromkeys(QUERIES, 0)
        for name in QUERIES:
            (folder / name / "in").mkdir(parents=True)
        for file in range(FILES):
            self.add(WINDOWS, _orders(file))
            self.add(TOTALS, [{"key": it} for it in range(KEYS if file == 0 else 10 * file)])
            self.add(PLACED, [{"v": it} for it in range(NUMBERS)])

    def add(self, name: str, rows: list[Row]) -> None:
        """One more file, for one batch."""
        file = self._folder / name / "in" / f"{self._written[name]:04d}.json"
        hidden = self._folder / name / "hidden"
        hidden.write_text("\n".join(map(json.dumps, rows)))
        hidden.rename(file)
        self._written[name] += 1

    def add_nothing(self) -> None:
        """A file without rows for each query."""
        for name in QUERIES:
            self.add(name, [])


def _orders(file: int) -> list[Row]:
    ids = range(file * ORDERS, (file + 1) * ORDERS)
    first_s = file * SECONDS_PER_FILE
    rows: list[Row] = [{"id": it, "time": _at(first_s + it % SECONDS_PER_FILE)} for it in ids]
    late: list[Row] = [{"id": -1 - it, "time": _at(0)} for it in range(LATE)]
    return rows + rows + (late if file == FILES - 2 else [])


def _at(second: int) -> str:
    return datetime.fromtimestamp(_START_S + second, timezone.utc).isoformat()


def _rows_of_input() -> dict[str, int]:
    return {
        WINDOWS: 2 * ORDERS * FILES + LATE,
        TOTALS: KEYS + sum(10 * file for file in range(1, FILES)),
        PLACED: NUMBERS * FILES,
    }


INPUT_ROWS = _rows_of_input()
_LAST_S = FILES * SECONDS_PER_FILE - 1
WATERMARK_S = _LAST_S - DELAY_S
_SECONDS_LEFT = _LAST_S - WATERMARK_S
# By query and operator: rows put, and rows of the state.
UPDATED = {
    (WINDOWS, 0): FILES * SECONDS_PER_FILE // WINDOW_S,
    (WINDOWS, 1): FILES * ORDERS,
    (TOTALS, 0): INPUT_ROWS[TOTALS],
    (PLACED, 0): INPUT_ROWS[PLACED],
}
STATE = {
    # Windows that end behind the watermark.
    (WINDOWS, 0): FILES * SECONDS_PER_FILE // WINDOW_S - WATERMARK_S // WINDOW_S,
    (WINDOWS, 1): _SECONDS_LEFT * ORDERS // SECONDS_PER_FILE,
    (TOTALS, 0): KEYS,
    (PLACED, 0): NUMBERS,
}
# An UnsafeRow of one long has 16 bytes: key and count of each total.
TOTALS_BYTES = KEYS * 2 * 16
# How often a task asks for its store: an aggregation reads it and writes it.
USES = {(WINDOWS, 0): 2, (WINDOWS, 1): 1, (TOTALS, 0): 2, (PLACED, 0): 2}
