"""A query whose files have the times of a batch a second."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter

# When FakeCheckpoint's batch 0 began.
BEGAN = 1_700_000_000_000


def set_time(path: Path, ms: int) -> None:
    os.utime(path, ns=(ms * 1_000_000,) * 2)


class Running:
    """Batches whose state files are written 100 and 300 ms after their start, commits 700 ms."""

    def __init__(self, fake: FakeCheckpoint, **how: Any) -> None:
        self.writer = StateWriter(fake, **how)

    def batch(self, changes: dict[int, Any], *, snapshots: bool = False, late_ms: int = 0) -> int:
        number = self.writer.batch(changes, snapshots=snapshots)
        began = BEGAN + number * 1000
        for partition in range(self.writer.partitions):
            path = self.writer.path(number + 1, partition=partition)
            if path.exists():
                set_time(path, began + 100 + 200 * partition)
        set_time(self.writer.fake.root / f"commits/{number}", began + 700 + late_ms)
        return number

    def back_to(self, batch: int) -> None:
        """As a rollback: the next batch is the one after it."""
        for number in range(batch + 1, self.writer.batch_number + 1):
            for log in ("commits", "offsets"):
                (self.writer.fake.root / log / str(number)).unlink()
        self.writer.batch_number = batch
        for partition, lineage in self.writer.lineage.items():
            kept = [it for it in lineage if it["version"] <= batch + 1]
            self.writer.lineage[partition] = kept
