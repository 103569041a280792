"""What is said of a query when it has run on all providers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from likespark.trial import Trial, signature
from likespark.world import KEYFOLD

AGREE, REFUSED = "same answer", "refused by all"
ALONE, APART = "only Keyfold runs it", "Spark's own do not agree"
# Limits that the docs name, by what messages say: they end no run.
KNOWN = (
    # Spark shuffles by other values than it stores, and no row showed it before a rescale
    # (docs/design/spark.md, strays).
    "KEYFOLD_ROW_MISPLACED",
)
MOST_SHOWN = 3


@dataclass(frozen=True)
class Verdict:
    """A kind that equal verdicts share; `wrong` says what is wrong with Keyfold, if anything."""

    kind: str
    wrong: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether it is a limit that the docs name."""
        return self.wrong is not None and any(it in self.wrong for it in KNOWN)


def verdict(trials: dict[str, Trial]) -> Verdict:
    """Of the answers and failures of a query; Spark's own providers are right."""
    ours = trials[KEYFOLD]
    first, *others = (it for name, it in trials.items() if name != KEYFOLD)
    if any(_differs(first, it) for it in others):
        return Verdict(APART)
    if first.failure is not None:
        return Verdict(_of_failures(signature(first.failure), ours))
    if ours.failure is not None:
        return Verdict(f"fails: {signature(ours.failure)}", ours.failure)
    if ours.answers != first.answers:
        operator = ours.world.operator.name
        return Verdict(f"differs: {operator}", _difference(first, ours))
    return Verdict(AGREE)


def _of_failures(theirs: str, ours: Trial) -> str:
    if ours.failure is None:
        return f"{ALONE}: {theirs}"
    mine = signature(ours.failure)
    return f"{REFUSED}: {theirs}" if mine == theirs else f"{REFUSED}: {theirs}, here {mine}"


def _differs(one: Trial, other: Trial) -> bool:
    fails = (one.failure is None) != (other.failure is None)
    return fails or (one.failure is None and one.answers != other.answers)


def _difference(theirs: Trial, ours: Trial) -> str:
    for start, (right, got) in enumerate(zip_longest(theirs.answers, ours.answers)):
        for batch, (its, mine) in enumerate(zip_longest(right or [], got or [], fillvalue=[])):
            if its != mine:
                missing = [it for it in its if it not in mine] or its
                added = [it for it in mine if it not in its] or mine
                return (
                    f"start {start}, batch {batch} of those with rows: {theirs.provider} says "
                    f"{missing[:MOST_SHOWN]}, Keyfold {added[:MOST_SHOWN]}"
                )
    return "nothing differs"
