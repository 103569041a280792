"""The watermark that a query must come to, from the rows that it has read."""

from collections.abc import Iterable, Sequence

from crash.inputs import LINKS, ROWS
from crash.spark_driver import CrashError
from kit.queries.processor import milliseconds
from kit.queries.rows import DELAY, Link, Row


class Watermark:
    """What Spark's is to be before the next batch, in ms; 0 without `streams` that have one."""

    def __init__(self, streams: Sequence[str]) -> None:
        """Before the first batch."""
        self._newest = dict.fromkeys(streams, 0)

    def see(self, rows: Iterable[Row], links: Iterable[Link]) -> None:
        """Takes the rows of a batch."""
        for stream, its in ((ROWS, rows), (LINKS, links)):
            if stream in self._newest:
                seen = (milliseconds(it.minute - DELAY) for it in its)
                self._newest[stream] = max([self._newest[stream], *seen])

    @property
    def due(self) -> int:
        """The least of its streams'."""
        return min(self._newest.values(), default=0)

    @property
    def is_exact(self) -> bool:
        """Of several, a restart makes Spark forget how far each one was, so it may lag behind."""
        return len(self._newest) < 2

    def check(self, number: int, before: int, said: int) -> None:
        """Raises CrashError if the offset log has another watermark for a batch."""
        if not before <= said <= self.due or (self.is_exact and said != self.due):
            raise CrashError(
                f"the offset log has the watermark {said} for batch {number}, after {before}; by "
                f"the rows of the batches before it is {self.due}"
            )
