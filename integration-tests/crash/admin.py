"""What is done to the checkpoint of a stopped query."""

import shutil
import time
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

from crash.models import Tables
from crash.oracle import Oracle
from crash.sinks import FUNCTION
from crash.spark_driver import RefusedError
from crash.subject import Subject
from crash.world import MOST_PARTITIONS
from kit.kill_moment import last_batch

MOST_MS = 600
ROLLBACK = "rollback"
CHANGES = ("rescale", ROLLBACK, "rollback and undo", "clone", "evolve", "savepoint", "vacuum")
# What may be refused, by the condition. Any other error is a failure.
REFUSALS = {
    "rescale": ("[KEYFOLD_RESCALE_PARTITIONS]", "[KEYFOLD_RESCALE_UNCOMMITTED_BATCH]"),
    ROLLBACK: ("[KEYFOLD_ROLLBACK_REFUSED]",),
    "rollback and undo": ("[KEYFOLD_ROLLBACK_REFUSED]",),
    # Of the oldest batch.
    "clone": ("[KEYFOLD_CLONE_BATCH]",),
    "evolve": ("[KEYFOLD_EVOLVE_REFUSED]",),
}


class Admin:
    """Changes a checkpoint, and makes copies of it, which stay as they were."""

    def __init__(self, subject: Subject, oracle: Oracle) -> None:
        """Of one query."""
        self._subject = subject
        self._oracle = oracle
        self._copies: list[tuple[Path, int, Tables]] = []

    def change(self, chance: Random, step: int) -> None:
        """One thing by chance. It may be refused by name."""
        history = self._subject.history
        last, retained = history.last_committed, history.retained()
        if not retained:
            return
        what = chance.choice(CHANGES)
        # Nothing is newer than the last one.
        batch = chance.choice(retained[:-1] or retained if "rollback" in what else retained)
        to = chance.randint(1, MOST_PARTITIONS)
        killed_after = chance.randrange(MOST_MS) if chance.random() < 0.12 else None
        here = self._subject.partitions
        self._subject.note(f"{what} (batch {batch} of {last}, {here} -> {to} partitions)")
        restore, begun = None, last_batch(history.checkpoint, "offsets")
        try:
            if what == "rescale":
                self._ask(killed_after, "rescale", partitions=to)
            elif what == "vacuum":
                self._ask(killed_after, "vacuum")
            elif what == ROLLBACK:
                restore = self._ask(None, "plan_rollback", batch=batch, **self._sink)
                self._ask(killed_after, "rollback", batch=batch, **self._sink)
            elif what == "rollback and undo":
                aside = self._ask(None, "rollback", batch=batch, **self._sink)
                self._ask(None, "undo_rollback", aside=aside)
            elif what == "savepoint":
                self._ask(None, "savepoint", name=f"s{step}")
                self._keep(Path(self._subject.checkpoint, "keyfold/savepoints", f"s{step}"), last)
            elif what == "evolve":
                self._evolve(chance, killed_after, step)
            else:
                self._clone(chance, step, batch)
            self._subject.counts[what] += 1
        except RefusedError as refusal:
            self._count(what, refusal)
        self._subject.update()
        # Also if it was killed when all was done, so that the next one was refused.
        if what == ROLLBACK and last_batch(history.checkpoint, "offsets") == batch < begun:
            self._subject.driver.ask("take_back", batch=batch, restore=restore, **self._sink)

    def _count(self, what: str, refusal: RefusedError) -> None:
        """Counts a refusal; raises it if it is none, but a failure."""
        condition = f"{str(refusal).partition(']')[0]}]"
        if condition not in REFUSALS.get(what, ()):
            raise refusal
        self._subject.note(f"refused: {refusal}")
        self._subject.counts[f"refused {what}: {condition}"] += 1

    @property
    def _sink(self) -> dict[str, str]:
        return {"sink": self._subject.world.sink, "folder": str(self._subject.folder)}

    def check_copies(self, chance: Random) -> None:
        """Raises CrashError if a copy does not hold what it held."""
        for path, batch, kept in self._copies:
            self._subject.note(f"look at {path.name}")
            self._oracle.check_state(path, {batch: kept}, chance)

    def _ask(self, killed_after: int | None, do: str, **arguments: Any) -> Any:
        """Asks the driver to do it; one that is killed on the way leaves it to the next."""
        arguments["checkpoint"] = self._subject.checkpoint
        if killed_after is not None:
            self._subject.note(f"killed after {killed_after} ms, and done again")
            self._subject.counts[f"kill -9 in {do}"] += 1
            driver = self._subject.driver
            driver.tell(do, **arguments)
            time.sleep(killed_after / 1000)
            driver.check_alive()
            driver.kill()
        return self._subject.driver.ask(do, **arguments)

    def _clone(self, chance: Random, step: int, batch: int) -> None:
        """Clones it, and goes on with the one or the other."""
        to = self._subject.folder / f"clone-{step}"
        self._ask(None, "clone", to=str(to), batch=batch)
        # A function has what it was told by the number of the batch; another sink of the clone's
        # would have nothing of the batches before.
        if chance.random() < 0.6 and self._subject.world.sink == FUNCTION:
            self._go_on_with(to)
        else:
            self._keep(to, batch)

    def _evolve(self, chance: Random, killed_after: int | None, step: int) -> None:
        """Makes a checkpoint of the same query with its state, or of a changed one, and goes on."""
        to, world = self._subject.folder / f"evolved-{step}", self._subject.world
        history = self._subject.history
        totals = history.totals.changed(chance) if world.kind.changes else history.totals
        self._subject.note(f"to {totals}")
        batch = self._ask(
            killed_after, "evolve", to=str(to), kind=world.kind.name,
            source=self._subject.input.source, settings=dict(world.settings),
            before=asdict(history.totals), totals=asdict(totals),
        )  # fmt: skip
        if world.kind.changes:
            history.evolved[batch] = totals
        self._go_on_with(to)

    def _go_on_with(self, copy: Path) -> None:
        self._subject.note(f"go on with {copy.name}")
        old = self._subject.history.checkpoint
        self._copies = [it for it in self._copies if old not in it[0].parents]
        self._subject.history.checkpoint = copy
        shutil.rmtree(old)

    def _keep(self, copy: Path, batch: int) -> None:
        self._copies.append((copy, batch, self._oracle.kept(self._subject.history, batch)))
