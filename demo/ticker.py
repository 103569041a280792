"""Shows how far the queries are, in one line every few seconds."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping

from rich.console import Console

from demo.batches import Batch

INTERVAL_SECONDS = 2.0


class Ticker:
    """Prints a line when something has happened and the last line is a while ago."""

    def __init__(
        self, console: Console, planned: Mapping[str, int], before: Iterable[Batch] = ()
    ) -> None:
        """Expect so many batches with input of each query, these among them."""
        self._console = console
        self._planned = planned
        self._begin = time.monotonic()
        self._printed = 0.0
        self._latest: dict[str, Batch] = {}
        self._with_input: defaultdict[str, set[int]] = defaultdict(set)
        for batch in before:
            self._take(batch)

    def add(self, batch: Batch) -> None:
        """Take in a finished batch."""
        self._take(batch)
        now = time.monotonic()
        if now - self._printed >= INTERVAL_SECONDS:
            self._printed = now
            self._console.print(f"  {now - self._begin:4.0f} s  {self.line()}", highlight=False)

    def done(self) -> int:
        """Count the finished batches of all queries that carry input."""
        return sum(map(len, self._with_input.values()))

    def line(self) -> str:
        """Say in words where each query stands."""
        batches = [
            f"{name} {len(self._with_input[name]):>2}/{self._planned[name]}"
            for name in sorted(self._latest)
        ]
        rows = sum(batch.state_rows for batch in self._latest.values())
        return f"{'  '.join(batches)}  {rows:>6,} rows of state"

    def _take(self, batch: Batch) -> None:
        """Count a batch once, also if it was run again; what only moves the watermark is none."""
        self._latest[batch.query] = batch
        if batch.input_rows > 0:
            self._with_input[batch.query].add(batch.number)
