"""The watermark that a query must come to, from the rows that it has read."""

from collections.abc import Iterable, Sequence

from crash.inputs import LINKS, ROWS
from crash.sinks import KNOWING_BATCHES
from crash.spark_driver import CrashError
from kit.queries.processor import milliseconds
from kit.queries.rows import DELAY, Link, Row


class Watermark:
    """What Spark's is to be before the next batch, in ms; 0 without `streams` that have one."""

    def __init__(self, streams: Sequence[str], sink: str) -> None:
        """Before the first batch. Spark's may lag behind it, until the next rows come.

        A sink that knows batches by their numbers skips one that it has, and Spark does not see the
        rows of that. And of several streams, a restart makes it forget how far each one was.
        """
        self._newest = dict.fromkeys(streams, 0)
        self._may_lag = len(streams) > 1 or sink in KNOWING_BATCHES

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

    def check(self, number: int, before: int, said: int) -> None:
        """Raises CrashError if the offset log has another watermark for a batch."""
        if not before <= said <= self.due or (said < self.due and not self._may_lag):
            raise CrashError(
                f"the offset log has the watermark {said} for batch {number}, after {before}; by "
                f"the rows of the batches before it is {self.due}"
            )
