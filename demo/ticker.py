"""Shows how far the queries are, in one line every few seconds."""

import time
from collections.abc import Mapping

from rich.console import Console

from demo.batches import Batch

INTERVAL_SECONDS = 2.0


class Ticker:
    """Prints a line when something has happened and the last line is a while ago."""

    def __init__(self, console: Console, planned: Mapping[str, int]) -> None:
        """Expect so many batches of each query."""
        self._console = console
        self._planned = planned
        self._begin = time.monotonic()
        self._printed = 0.0
        self._latest: dict[str, Batch] = {}

    def add(self, batch: Batch) -> None:
        """Take in a finished batch."""
        self._latest[batch.query] = batch
        now = time.monotonic()
        if now - self._printed >= INTERVAL_SECONDS:
            self._printed = now
            self._console.print(f"  {now - self._begin:4.0f} s  {self.line()}", highlight=False)

    def done(self) -> int:
        """Count the finished batches of all queries that carry input."""
        return sum(self._count(batch) for batch in self._latest.values())

    def line(self) -> str:
        """Say in words where each query stands."""
        batches = [
            f"{name} {self._count(batch):>2}/{self._planned[name]}"
            for name, batch in sorted(self._latest.items())
        ]
        rows = sum(batch.state_rows for batch in self._latest.values())
        return f"{'  '.join(batches)}  {rows:>6,} rows of state"

    def _count(self, batch: Batch) -> int:
        """Batches finished so far; the one that only moves the watermark is not counted."""
        return min(batch.number + 1, self._planned[batch.query])
