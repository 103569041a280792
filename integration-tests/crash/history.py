"""The batches of a query, from Spark's logs and from what its sink was given."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crash.models import Batch
from crash.spark_driver import CrashError
from crash.world import World, contents_of
from kit.kill_moment import last_batch


@dataclass(frozen=True)
class Planned:
    """An entry of the offset log. Files are counted from 0; -1: none so far."""

    last_row_file: int
    last_link_file: int
    watermark: int
    now: int

    @classmethod
    def of(cls, entry: str) -> "Planned":
        _, metadata, *offsets = entry.splitlines()
        known = json.loads(metadata)
        files = [-1 if it == "-" else json.loads(it)["logOffset"] for it in offsets]
        rows, links = [*files, -1][:2]
        return cls(rows, links, known["batchWatermarkMs"], known["batchTimestampMs"])


class History:
    """What is known of a checkpoint's batches; the logs themselves forget the older ones."""

    def __init__(self, world: World, checkpoint: Path, sink: Path) -> None:
        self._world = world
        self.checkpoint = checkpoint
        self._sink = sink
        self._planned: dict[int, str] = {}

    @property
    def last_committed(self) -> int:
        return last_batch(self.checkpoint, "commits")

    def retained(self) -> list[int]:
        """The batches of the commit log, ascending."""
        folder = self.checkpoint / "commits"
        names = [it.name for it in folder.iterdir()] if folder.is_dir() else []
        return sorted(int(it) for it in names if it.isdecimal())

    def update(self) -> None:
        """Reads what is new; what is not in the logs any more, after a rollback, has not been."""
        last = last_batch(self.checkpoint, "offsets")
        for file in self._sink.glob("[0-9]*.json"):
            if int(file.stem) > last:
                file.unlink()
        self._planned = {it: entry for it, entry in self._planned.items() if it <= last}
        for number in range(last + 1):
            told = self._told(number)
            log = self.checkpoint / "offsets" / str(number)
            if log.is_file():
                self._planned[number] = log.read_text()
            elif told is not None:
                self._planned[number] = told["planned"]
        missing = set(range(last + 1)) - self._planned.keys()
        if missing:
            raise CrashError(f"no entry of the offset log was seen of batches {sorted(missing)}")

    def planned(self) -> list[Planned]:
        """The offset log up to now."""
        return [Planned.of(self._planned[it]) for it in range(len(self._planned))]

    def rows_of(self, number: int) -> list[tuple[Any, ...]] | None:
        """What the sink was given in a batch; None if it was not asked."""
        told = self._told(number)
        return None if told is None else [tuple(row) for row in told["rows"]]

    def batches(self) -> Iterator[tuple[int, Batch | None]]:
        """Each planned batch with what it was given; None: a rescale's, which is given nothing."""
        before = Planned(-1, -1, 0, 0)
        for number, it in enumerate(self.planned()):
            rows = range(before.last_row_file + 1, it.last_row_file + 1)
            links = range(before.last_link_file + 1, it.last_link_file + 1)
            if number <= self.last_committed and self._told(number) is None:
                if rows or links:
                    raise CrashError(f"batch {number} was committed, and the sink was never asked")
                yield number, None
            else:
                yield (
                    number,
                    Batch(
                        [row for file in rows for row in contents_of(self._world, file)[0]],
                        [link for file in links for link in contents_of(self._world, file)[1]],
                        before.watermark,
                        it.watermark,
                        it.now,
                    ),
                )
            before = it

    def _told(self, number: int) -> dict[str, Any] | None:
        file = self._sink / f"{number}.json"
        return json.loads(file.read_text()) if file.is_file() else None
