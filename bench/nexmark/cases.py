"""What is measured: a query with a provider, and how much of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.nexmark.stores import NOTHING, OURS, ROCKSDB
from bench.results import FOLDER, Results

SEED: Final = 42
# Events a second of event time, as in Flink's generator.
RATE: Final = 10_000
# What a rescale changes, of one operator with many small rows, one with large rows, and a join.
RESCALED: Final = ("q17", "q18", "q20")
BEFORE, AFTER = 8, 12
RESCALING: Final = (OURS, ROCKSDB)
# With many partitions: an aggregation, a session, large rows and joins.
WIDE: Final = ("q3", "q8", "q11", "q17", "q18", "q20")


@dataclass(frozen=True)
class Size:
    """Batches of `rows` events: `warm_up` that do not count, and `measured` ones."""

    partitions: int
    rows: int
    warm_up: int
    measured: int

    @classmethod
    def of(cls, partitions: int, times: float) -> "Size":
        """Of a run that takes two hours in all, with so many times its batches."""
        if partitions > AFTER:
            return cls(partitions, 20_000, 3, max(2, round(8 * times)))
        return cls(partitions, 25_000, 8, max(2, round(28 * times)))

    @property
    def text(self) -> str:
        """For people."""
        return (
            f"{self.partitions} partitions, {self.measured} batches of {self.rows:,} events after"
            f" {self.warm_up}"
        )

    @property
    def last(self) -> int:
        """The first batch that is not run."""
        return self.warm_up + self.measured


@dataclass(frozen=True)
class Case:
    """A query with a provider. With `to` it is rescaled to so many partitions afterwards."""

    query: str
    store: str
    size: Size
    to: int = 0

    @classmethod
    def read(cls, fields: dict[str, Any]) -> "Case":
        """Make it of what is in a file."""
        return cls(**{**fields, "size": Size(**fields["size"])})

    @property
    def restarts(self) -> bool:
        """Whether it is started again in another process."""
        return self.store != NOTHING and not self.to


def cases(queries: list[str], stores: list[str], size: Size) -> Iterator[Case]:
    """All of them: by queries, so that what is compared is measured one after the other."""
    is_wide = size.partitions > AFTER
    for query in queries:
        if is_wide and query not in WIDE:
            continue
        for store in stores:
            yield Case(query, store, size)
        if query in RESCALED and not is_wide:
            rescaled = Size(BEFORE, size.rows, size.warm_up, size.measured // 2)
            for store in stores:
                if store in RESCALING:
                    yield Case(query, store, rescaled, AFTER)


def results(file: Path = FOLDER / "nexmark.jsonl") -> Results[Case]:
    """Those that there are."""
    return Results(file, Case.read, "bench/nexmark")
