"""The batches of a query, from Spark's logs and from what its sink was given."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crash.inputs import STREAMS, Input, Position
from crash.models import Batch
from crash.spark_driver import CrashError
from crash.watermark import Watermark
from kit.kill_moment import last_batch
from kit.queries.totals import Totals


@dataclass(frozen=True)
class Planned:
    """An entry of the offset log: the end of each stream that it reads, and times in ms."""

    ends: Mapping[str, Position]
    watermark: int
    now: int


class History:
    """What is known of a checkpoint's batches; the logs themselves forget the older ones."""

    def __init__(
        self,
        its: Input,
        checkpoint: Path,
        told: Path | None,
        watermark: Callable[[], Watermark],
    ) -> None:
        """Of a query that reads `its` input; in `told` a function says what it was given.

        `watermark` makes that of the query before its first batch.
        """
        self._input = its
        self._watermark = watermark
        self.checkpoint = checkpoint
        self._told_in = told
        self._planned: dict[int, str] = {}
        # What the query became after a batch.
        self.evolved: dict[int, Totals] = {}

    @property
    def totals(self) -> Totals:
        """What the query is now, if it is one that changes."""
        return self.evolved[max(self.evolved)] if self.evolved else Totals()

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
        for file in self._told_in.glob("[0-9]*.json") if self._told_in else ():
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
        return [self._parsed(self._planned[it]) for it in range(len(self._planned))]

    def lacks(self) -> str:
        """What a query that has come to its end has not done; empty if it has done all."""
        last, mark = self.planned()[-1], self._watermark()
        if not all(self._input.is_read(stream, end) for stream, end in last.ends.items()):
            return "not all of its input was read"
        if self.last_committed < len(self._planned) - 1:
            return f"batch {len(self._planned) - 1} was not committed"
        for _, batch in self.batches():
            if batch is not None:
                mark.see(batch.rows, batch.links)
        if last.watermark != mark.due:
            return f"no batch came after the last rows: the watermark is {last.watermark}"
        return ""

    def rows_of(self, number: int) -> list[tuple[Any, ...]] | None:
        """What the sink was given in a batch; None if it was not asked."""
        told = self._told(number)
        return None if told is None else [tuple(row) for row in told["rows"]]

    def batches(self) -> Iterator[tuple[int, Batch | None]]:
        """Each planned batch with what it was given; None: a rescale's, which is given nothing."""
        before, mark = Planned({}, 0, -1), self._watermark()
        for number, it in enumerate(self.planned()):
            if (it.ends, it.now) == (before.ends, before.now):
                yield number, None
            else:
                if self._told_in and number <= self.last_committed and self._told(number) is None:
                    raise CrashError(f"batch {number} was committed, and the sink was never asked")
                mark.check(number, before.watermark, it.watermark)
                rows, links = (self._read(stream, before, it) for stream in STREAMS)
                mark.see(rows, links)
                yield number, Batch(rows, links, before.watermark, it.watermark, it.now)
            before = it

    def _read(self, stream: str, before: Planned, after: Planned) -> list[Any]:
        ends = (it.ends.get(stream, {}) for it in (before, after))
        return self._input.between(stream, *ends)

    def _parsed(self, entry: str) -> Planned:
        _, metadata, *offsets = entry.splitlines()
        known = json.loads(metadata)
        ends = [{} if it == "-" else self._input.position(it) for it in offsets]
        named = dict(zip(STREAMS, ends, strict=False))
        return Planned(named, known["batchWatermarkMs"], known["batchTimestampMs"])

    def _told(self, number: int) -> dict[str, Any] | None:
        file = self._told_in / f"{number}.json" if self._told_in else None
        return json.loads(file.read_text()) if file and file.is_file() else None
