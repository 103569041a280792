"""Runs queries to their ends, some of which Spark ends before, by no fault of the queries."""

from collections.abc import Callable, Iterable

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from demo.events import send

# Spark's source of Kafka fails after a batch that has been run again, as it says how far behind it
# is: the batch is committed, and the query goes on when it is started once more.
UNREPORTED = "KafkaMicroBatchStream$.metrics"
# Spark gives Python ten seconds to start, in which eight queries begin at once.
SLOW_WORKER = "Python worker failed to connect back"
STARTS = 4


def run(
    start: Callable[[Iterable[str]], list[StreamingQuery]],
    queries: Iterable[str],
    starts: int = STARTS,
) -> None:
    """Start queries and wait until all have ended; each is started at most so many times."""
    again = []
    for query in start(queries):
        try:
            query.awaitTermination()
        except StreamingQueryException as error:
            said = getattr(error, "_stackTrace", "")
            if starts == 1 or (UNREPORTED not in said and SLOW_WORKER not in said):
                raise
            if UNREPORTED in said:
                send("unreported", query=query.name)
            else:
                send("note", text=f"{query.name} is started again: {SLOW_WORKER} in time")
            again.append(query.name)
    if again:
        run(start, again, starts - 1)
