"""What is measured: a state of so many keys with a provider."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.bigstate.process import STORES
from bench.results import FOLDER, Results

KEYS: Final = (20_000_000, 50_000_000)


@dataclass(frozen=True)
class Case:
    """A count of `keys` keys with a provider: after them come so many batches of each kind."""

    keys: int
    store: str
    large: int
    small: int

    @classmethod
    def read(cls, fields: dict[str, Any]) -> "Case":
        """Make it of what is in a file."""
        return cls(**fields)


def cases(keys: list[int], large: int, small: int) -> Iterator[Case]:
    """Those of a run, small states first."""
    return (Case(it, store, large, small) for it in keys for store in STORES)


def results(file: Path = FOLDER / "bigstate.jsonl") -> Results[Case]:
    """Those that there are."""
    return Results(file, Case.read, "bench/bigstate")
