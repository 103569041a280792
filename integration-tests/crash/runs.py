"""Lives of queries, one for each seed, and what is kept of one that loses or invents a row."""

import shutil
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property
from pathlib import Path

from crash.inputs import Files, Topics
from crash.life import Life
from crash.spark_driver import CrashError, RefusedError, SparkDriver
from crash.subject import Subject
from crash.world import World
from keyfold import KeyfoldError
from kit.servers.kafka import Kafka


class Runs:
    """Runs of many seeds; those whose JVM is to have the same settings share one."""

    def __init__(self, folder: Path, provider: str = "") -> None:
        """Keeps in `folder` what a failed run leaves.

        `provider` is the class of one of Spark's own, to compare with.
        """
        self._provider, self._line = provider, ""
        self.counts: Counter[str] = Counter()
        self.failed: list[int] = []
        self.talks = False
        self._folder = folder
        self._started = ExitStack()
        self._driver: SparkDriver | None = None
        self._settings: dict[str, str] = {}

    def world(self, seed: int) -> World:
        """What a seed decides."""
        return World(seed, self._provider)

    def run(self, seed: int) -> str | None:
        """Runs one seed; what went wrong, if anything did."""
        world = self.world(seed)
        if (self._settings, self._line) != (world.jvm_settings, world.line):
            self.close()
            self._settings, self._line = dict(world.jvm_settings), world.line
        folder = self._folder / f"seed-{seed}"
        life: Life | None = None
        try:
            its = Topics(self._kafka, f"s{seed}-") if world.reads_kafka else Files(folder)
            life = Life(Subject(world, folder, its, self._running, self.counts))
            life.run()
        except (
            CrashError,
            RefusedError,
            KeyfoldError,
            AssertionError,
            OSError,
            KeyError,
            RuntimeError,
        ) as failure:
            said = str(failure) if isinstance(failure, CrashError) else traceback.format_exc()
        else:
            # Maintenance of the stopped query may still write; what it leaves goes at the end.
            shutil.rmtree(folder, ignore_errors=True)
            self.counts["runs"] += 1
            if self.talks:
                print("\n".join(life.steps))
            return None
        self.counts["runs failed"] += 1
        self.failed.append(seed)
        self.close(keep=True)
        steps = "\n".join(
            f"  {number}. {it}" for number, it in enumerate(life.steps if life else (), 1)
        )
        return (
            f"seed {seed} failed: {said}\n{world.name}, {world.partitions} partitions, "
            f"{dict(world.settings)}, {dict(world.jvm_settings)}\n{steps}\n"
            f"Its files are in {folder}. To repeat it: make crash RUNS=1 SEED={seed}"
        )

    def end(self, *, keep: bool = False) -> None:
        """Ends all that was started."""
        self.close(keep=keep)
        self._started.close()

    def close(self, *, keep: bool = False) -> None:
        """Ends the Spark that runs."""
        if self._driver is not None:
            self._driver.kill()
            if not keep:
                shutil.rmtree(self._driver.folder, ignore_errors=True)
            self._driver = None

    def _running(self) -> SparkDriver:
        if self._driver is None or not self._driver.is_running:
            self.close()
            self.counts["JVM started"] += 1
            number = self.counts["JVM started"]
            folder = self._folder / f"spark-{number}"
            self._driver = SparkDriver(folder, self._settings, self._line)
        return self._driver

    @cached_property
    def _kafka(self) -> Kafka:
        return self._started.enter_context(closing(Kafka(self._folder / "kafka")))


@contextmanager
def runs(provider: str = "") -> Iterator[Runs]:
    """Runs with a folder of their own, which stays if one of them fails."""
    folder = Path(tempfile.mkdtemp(prefix="keyfold-crash-"))
    them = Runs(folder, provider)
    try:
        yield them
    finally:
        them.end(keep=bool(them.failed))
        if not them.failed:
            shutil.rmtree(folder, ignore_errors=True)
