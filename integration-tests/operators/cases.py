"""A stateful query with what it must say in the end."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import DataFrame

from kit.queries.streams import Streams

Answer = Iterable[tuple[Any, ...]]

FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"


@dataclass(frozen=True)
class Case:
    """A query over the input, and its answer from the same rows in plain Python."""

    name: str
    question: Callable[[Streams], DataFrame]
    answer: Callable[[], Answer]
    # As Spark names them in the checkpoint.
    operators: tuple[str, ...]
    mode: str = "append"
    # In update mode, how many columns from the left name the row that is updated.
    keys: int = 1
    settings: Mapping[str, str] = field(default_factory=dict)
    # Metrics of Spark's that must not be zero after the restart.
    counted: tuple[str, ...] = ()
    # Whether its number of partitions changes before the restart.
    rescaled: bool = True
    # Whether all its rows are in one partition, whatever the number.
    alone: bool = False

    @property
    def has_ids(self) -> bool:
        """Whether its checkpoint format is 2, so that an open batch's state can be rescaled."""
        return self.settings.get(FORMAT) != "1"

    def final(self, batches: Mapping[int, list[list[Any]]]) -> list[tuple[Any, ...]]:
        """What the batches come to."""
        if self.mode == "complete":
            return [tuple(row) for row in batches[max(batches)]]
        rows = [tuple(row) for number in sorted(batches) for row in batches[number]]
        if self.mode == "update":
            return list({row[: self.keys]: row for row in rows}.values())
        return rows


def not_rescaled(case: Case) -> Case:
    """The same, restarted with the partitions that it had."""
    return replace(case, name=f"{case.name}, not rescaled", rescaled=False)


def under_format_1(case: Case) -> Case:
    """The same under checkpoint format 1; the settings that Keyfold ships have 2."""
    name = f"{case.name}, checkpoint format 1"
    return replace(case, name=name, settings={**case.settings, FORMAT: "1"})
