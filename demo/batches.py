"""What happened in each micro-batch, from Spark's progress records."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import quantiles
from typing import Any


@dataclass(frozen=True)
class Batch:
    """One finished micro-batch; times in milliseconds, state summed over the query's operators."""

    query: str
    number: int
    input_rows: int
    duration_ms: int
    # Summed over the partitions, which commit in parallel: it can be more than the duration.
    commit_ms: int
    state_rows: int
    state_bytes: int
    evicted_rows: int
    late_rows: int

    @classmethod
    def from_progress(cls, progress: dict[str, Any]) -> "Batch":
        """Take what the summary needs out of one StreamingQueryProgress."""
        operators: list[dict[str, Any]] = progress["stateOperators"]

        def total(field: str) -> int:
            return sum(int(operator[field]) for operator in operators)

        return cls(
            query=progress["name"],
            number=progress["batchId"],
            input_rows=progress["numInputRows"],
            duration_ms=progress["durationMs"]["triggerExecution"],
            commit_ms=total("commitTimeMs"),
            state_rows=total("numRowsTotal"),
            state_bytes=total("memoryUsedBytes"),
            evicted_rows=total("numRowsRemoved"),
            late_rows=total("numRowsDroppedByWatermark"),
        )


@dataclass(frozen=True)
class Spread:
    """Median, 90th percentile and greatest of some durations, in milliseconds."""

    median: float
    p90: float
    greatest: float

    @classmethod
    def of(cls, values: Iterable[int]) -> "Spread":
        """Sum up at least one value."""
        ordered = sorted(values)
        if len(ordered) == 1:
            ordered *= 2
        deciles = quantiles(ordered, n=10, method="inclusive")
        return cls(deciles[4], deciles[8], ordered[-1])
