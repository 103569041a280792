"""The query of a run: where it is, how it is told what to do, and what has happened to it."""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from crash.history import History
from crash.inputs import Input
from crash.sinks import FUNCTION
from crash.spark_driver import SparkDriver
from crash.watermark import Watermark
from crash.world import World
from kit.kill_moment import last_batch


class Subject:
    """A query, with a checkpoint that may move. `steps` is for whoever must repeat a run."""

    def __init__(
        self,
        world: World,
        folder: Path,
        its: Input,
        driver: Callable[[], SparkDriver],
        counts: Counter[str],
    ) -> None:
        """Gives it a folder, its input, a driver whenever it asks, and what to count in."""
        told = folder / "batches"
        told.mkdir(parents=True)
        self.world = world
        self.input = its
        self.folder = folder
        self.counts = counts
        self.history = History(
            its,
            folder / "checkpoint",
            told if world.sink == FUNCTION else None,
            lambda: Watermark(world.kind.watermarks, world.sink),
        )
        self.partitions = world.partitions
        self.steps: list[str] = []
        self._driver = driver
        self._began = time.monotonic()

    @property
    def driver(self) -> SparkDriver:
        """One that runs: a new one if the last was killed."""
        return self._driver()

    @property
    def checkpoint(self) -> str:
        return str(self.history.checkpoint)

    def note(self, what: str) -> None:
        """Writes a step down, with the time since the start, which no seed repeats."""
        self.steps.append(f"{time.monotonic() - self._began:.1f} s: {what}")

    def update(self) -> None:
        """Looks at the logs: what has happened, and how many partitions there are now."""
        self.history.update()
        log = (
            Path(self.checkpoint) / "offsets" / str(last_batch(self.history.checkpoint, "offsets"))
        )
        if log.is_file():
            said = log.read_text().split('"spark.sql.shuffle.partitions":"')[1]
            self.partitions = int(said.split('"')[0])
