"""One run: a query's life from its first batch to its last, with all that may happen between."""

from pathlib import Path
from random import Random

from crash.admin import Admin
from crash.oracle import Oracle
from crash.sinks import FUNCTION
from crash.spark_driver import CrashError
from crash.subject import Subject
from crash.turn import Turn
from crash.world import chance_of, contents_of

MOST_FILES_AT_ONCE = 3


class Life:
    """Runs one seed."""

    def __init__(self, subject: Subject) -> None:
        """Of a query that has not been started yet."""
        self._world = subject.world
        self._subject = subject
        self._oracle = Oracle(subject.world, subject.counts)
        self._admin = Admin(self._subject, self._oracle)
        self._files = 0

    @property
    def steps(self) -> list[str]:
        """What has happened so far."""
        return self._subject.steps

    def run(self) -> None:
        """Raises CrashError, or what the product's reader raises, if something is wrong."""
        step = 0
        while self._files < self._world.files - 1:
            chance = chance_of(self._world.seed, f"step {step}")
            if step > 0 and chance.random() < 0.5 and not self._world.provider:
                self._admin.change(chance, step)
                self._check(chance)
            files = min(chance.randint(1, MOST_FILES_AT_ONCE), self._world.files - 1 - self._files)
            self._go(Turn.drawn(self._subject, chance, step, files), chance, step, files)
            step += 1
        self._end(chance_of(self._world.seed, "end"), step)

    def _end(self, chance: Random, step: int) -> None:
        """Reads the last file, and looks at all that is left."""
        self._go(Turn(), chance, step, files=1)
        if lacks := self._subject.history.lacks():
            raise CrashError(f"the query has ended, and {lacks}")
        self._admin.check_copies(chance)
        readable = self._world.kind.is_read_by_spark and not self._world.provider
        if chance.random() < 0.3 and readable and not self._has_idle_folders():
            self._subject.note("compare with Spark's source")
            settings = dict(self._world.settings)
            self._subject.driver.ask(
                "compare", checkpoint=self._subject.checkpoint, settings=settings
            )

    def _has_idle_folders(self) -> bool:
        """Whether Spark 4.1 would look for partitions that were there before a rescale."""
        folders = Path(self._subject.checkpoint, "state", "0").glob("[0-9]*")
        return sum(1 for _ in folders) > self._subject.partitions

    def _go(self, turn: Turn, chance: Random, step: int, files: int) -> None:
        for file in range(self._files, self._files + files):
            self._subject.input.add(file, *contents_of(self._world, file))
        self._files += files
        self._subject.note(f"{self._files} files, {turn}")
        turn.run(self._subject, step, chance)
        self._check(chance)

    def _check(self, chance: Random) -> None:
        self._subject.driver.check_alive()
        self._subject.update()
        self._oracle.check(self._subject.history, chance)
        if self._world.sink != FUNCTION:
            rows = self._subject.driver.ask(
                "read", sink=self._world.sink, folder=str(self._subject.folder)
            )
            self._oracle.check_sink(self._subject.history, rows)
        self._subject.note("all is as it must be")
