"""Files that the queries read, one for each batch, of rows with an id, a value and a time."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random

SCHEMA = "id long, v long, s long"
# In seconds since 1970: the first row; a file's span; behind the newest row by more is late.
START, SPAN, DELAY = 1_704_110_400, 900, 600
SIDES = ("left", "right")


def write_files(folder: Path, chance: Random, numbers: range, *, is_last: bool) -> None:
    """Writes files of these numbers on both sides; the last one's last row ends all windows."""
    for side in SIDES:
        (folder / side).mkdir(parents=True, exist_ok=True)
        for number in numbers:
            rows = [_row(chance, number) for _ in range(chance.randint(1, 14))]
            if is_last and number == numbers[-1]:
                rows.append({"id": 1, "v": 1, "s": START + 100 * SPAN})
            path = folder / side / f"{number}.json"
            path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
            # Spark takes them by their times.
            os.utime(path, (START + number, START + number))


def _row(chance: Random, number: int) -> dict[str, int]:
    late = 3 * SPAN if chance.random() < 0.1 else 0
    return {
        "id": chance.randrange(12),
        "v": chance.randrange(10),
        "s": START + number * SPAN + chance.randrange(SPAN) - late,
    }
