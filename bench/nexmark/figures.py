"""What is told of a case: numbers, and how many times better Keyfold's are."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from bench.nexmark.cases import Case
from bench.nexmark.stores import NOTHING, OURS
from bench.results import Results


@dataclass(frozen=True)
class Figure:
    """A number of a case; `is_speed` if more of it is better, not `is_compared` if neither is."""

    name: str
    of: Callable[[Case, dict[str, Any]], float | None]
    is_speed: bool = False
    is_compared: bool = True
    decimals: int = 0

    def cell(self, case: Case, results: Results[Case]) -> str:
        """The number, and how many times better than it Keyfold's is."""
        number = self._number(case, results)
        if results.has_failed(case):
            return "failed"
        if number is None:
            return "not run" if results.of(case) is None else ""
        ours = self._number(Case(case.query, OURS, case.size, case.to), results)
        text = f"{number:,.{self.decimals}f}"
        if case.store == OURS or not self.is_compared or not ours or not number:
            return text
        return f"{text}<br>{ours / number if self.is_speed else number / ours:.2f}x"

    def _number(self, case: Case, results: Results[Case]) -> float | None:
        found = results.of(case)
        return None if found is None else self.of(case, found)


def percentile(times: list[float], share: float) -> float:
    """By the nearest rank: of few times the 99th is the longest."""
    return sorted(times)[max(0, -(-len(times) * int(share * 100) // 100) - 1)]


RATES: Final = (
    Figure(
        "Events a second",
        lambda case, it: case.size.rows * len(it["ms"]) / sum(it["ms"]) * 1000,
        is_speed=True,
    ),
    Figure("Milliseconds a batch, p50", lambda _, it: median(it["ms"])),
    Figure("Milliseconds a batch, p99", lambda _, it: percentile(it["ms"], 0.99)),
)
FIGURES: Final = (
    *RATES,
    Figure(
        "Rows of state",
        lambda case, it: None if case.store == NOTHING else it["state_rows"],
        is_compared=False,
    ),
    Figure("MB of the checkpoint", lambda _, it: it["bytes"] / 1e6, decimals=1),
    Figure("MB written a batch", lambda _, it: it["written"] / len(it["ms"]) / 1e6, decimals=1),
    Figure(
        "Seconds from a restart to the end of the first batch",
        lambda _, it: it.get("restart_s"),
        decimals=1,
    ),
)
RESCALES: Final = (
    Figure("Milliseconds of a rescale", lambda _, it: it.get("rescale_ms")),
    Figure(
        "Seconds from its begin to the end of the first batch",
        lambda _, it: it.get("rescaled_s"),
        decimals=1,
    ),
)
