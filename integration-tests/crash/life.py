"""One run: a query's life from its first batch to its last, with all that may happen between."""

import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from history import History
from kill_moment import KillMoment, last_batch
from models import Tables
from oracle import Oracle
from spark_driver import CrashError, RefusedError, SparkDriver
from world import MOST_PARTITIONS, World, chance_of

POLL_S = 0.03
HANGS_S = 200
# A task that is killed too often has no time to come to its end.
MOST_TASK_KILLS = 3
MOST_FILES_AT_ONCE = 3
MOST_ADMIN_MS = 600
# What a fault of ours may make Spark say. Anything else is not its fault.
EXPECTED = ("injected", "cancel", "nterrupt", "killed", "crash")
END, STOP, KILL, CANCEL = "to the end", "query.stop()", "kill -9", "jobs cancelled"
ADMIN = ("rescale", "rollback", "rollback and undo", "clone", "savepoint", "vacuum")


class Life:
    """Runs one seed. What has happened so far is in `steps`, for whoever must repeat it."""

    def __init__(
        self,
        world: World,
        folder: Path,
        driver: Callable[[], SparkDriver],
        counts: Counter[str],
    ) -> None:
        """Gives it an empty folder, and a driver each time that it asks for one."""
        self.steps: list[str] = []
        self._began = time.monotonic()
        self._world = world
        self._folder = folder
        self._driver = driver
        self._counts = counts
        self._oracle = Oracle(world, counts)
        self._partitions = world.partitions
        self._files = 0
        self._copies: list[tuple[Path, int, Tables]] = []
        (folder / "batches").mkdir(parents=True)
        self._history = History(world, folder / "checkpoint", folder / "batches")

    def run(self) -> None:
        """Raises CrashError, or what the product's reader raises, if something is wrong."""
        step = 0
        while self._files < self._world.files - 1:
            chance = chance_of(self._world.seed, f"step {step}")
            if step > 0 and chance.random() < 0.5:
                self._administer(chance, step)
            files = min(chance.randint(1, MOST_FILES_AT_ONCE), self._world.files - 1 - self._files)
            self._deliver(files)
            self._go(chance, step, files)
            self._check(chance)
            step += 1
        self._end(chance_of(self._world.seed, "end"), step)

    def _end(self, chance: Random, step: int) -> None:
        self._deliver(1)
        self._start(step, None, 0)
        self._judge(may_fail=False)
        self._check(chance)
        read = self._history.planned()[-1].last_row_file
        if read != self._world.files - 1:
            raise CrashError(f"{self._world.files} files, and file {read} was the last to be read")
        for path, batch, kept in self._copies:
            self._note(f"look at {path.name}")
            self._oracle.check_state(path, {batch: kept}, chance)
        if chance.random() < 0.3:
            self._note("compare with Spark's source")
            self._driver().ask("compare", checkpoint=str(self._history.checkpoint))

    def _deliver(self, files: int) -> None:
        for file in range(self._files, self._files + files):
            self._world.write_file(self._folder, file)
        self._files += files

    def _go(self, chance: Random, step: int, files: int) -> None:
        """Starts the query, and ends it in one way or another."""
        ending = chance.choices((END, STOP, KILL, CANCEL), (3, 5, 2, 2))[0]
        fault_seed = chance.randrange(1 << 30) if chance.random() < 0.3 else None
        one_in = chance.choice((8, 30, 100))
        task_kills = chance.randint(1, MOST_TASK_KILLS) if chance.random() < 0.2 else 0
        moment = KillMoment(
            self._world.seed * 1000 + step,
            self._history.checkpoint,
            self._partitions,
            operators=1,
            batches=files,
        )
        self._note(
            f"{self._files} files, {ending}"
            + ("" if ending == END else f" {moment.delay_ms} ms after {moment}")
            + ("" if fault_seed is None else f", one file call in {one_in} fails")
            + (f", {task_kills} tasks killed" if task_kills else "")
        )
        self._start(step, fault_seed, one_in)
        came = self._wait_for(moment, chance, task_kills=task_kills, at_end=ending == END)
        if came:
            time.sleep(moment.delay_ms / 1000)
        self._counts[ending if came or ending == END else f"{ending}, too late"] += 1
        if came and ending == KILL:
            self._driver().kill()
            return
        if came and ending == STOP:
            self._driver().ask("stop")
        elif came and ending == CANCEL:
            self._driver().ask("cancel")
        faulty = task_kills > 0 or fault_seed is not None or ending == CANCEL
        self._judge(may_fail=faulty)

    def _start(self, step: int, fault_seed: int | None, one_in: int) -> None:
        settings = {
            "spark.sql.shuffle.partitions": str(self._partitions),
            **self._world.settings,
            **self._world.settings_of_step(step),
        }
        self._driver().ask(
            "start",
            kind=self._world.kind.name,
            folder=str(self._folder),
            checkpoint=str(self._history.checkpoint),
            settings=settings,
            fault_seed=fault_seed,
            one_in=one_in,
        )

    def _wait_for(
        self, moment: KillMoment, chance: Random, *, task_kills: int, at_end: bool
    ) -> bool:
        """Whether the moment has come before the query has ended. Tasks may be killed meanwhile."""
        next_kill = time.monotonic()
        deadline = next_kill + HANGS_S
        while at_end or not moment.has_come():
            if self._driver().ask("ended"):
                return False
            if not task_kills and at_end:
                return False
            if time.monotonic() > deadline:
                raise self._driver().hangs(f"the query has not come to its end in {HANGS_S} s")
            if task_kills and time.monotonic() > next_kill:
                killed = self._driver().ask("kill_task")
                task_kills -= killed
                self._counts["task killed"] += killed
                next_kill = time.monotonic() + chance.uniform(0.2, 3)
            time.sleep(POLL_S)
        return True

    def _judge(self, *, may_fail: bool) -> None:
        """Waits for the query's end, and looks at how it went."""
        told = self._driver().ask("wait")
        self._counts.update(told["faults"])
        error = told["error"]
        if error is None:
            return
        self._note(f"the query failed: {error.splitlines()[0][:200]}")
        self._counts["query failed"] += 1
        if not may_fail or not any(it in error for it in EXPECTED):
            raise CrashError(f"the query failed: {error}")

    def _check(self, chance: Random) -> None:
        self._driver().check_alive()
        self._note("check")
        self._history.update()
        self._oracle.check(self._history, chance)

    def _administer(self, chance: Random, step: int) -> None:
        """Changes the stopped query's checkpoint, or copies it."""
        last = self._history.last_committed
        if last < 0:
            return
        what = chance.choice(ADMIN)
        batch = chance.choice(self._history.retained())
        partitions = chance.randint(1, MOST_PARTITIONS)
        killed_after = chance.randrange(MOST_ADMIN_MS) if chance.random() < 0.2 else None
        at = str(self._history.checkpoint)
        self._note(
            f"{what} (batch {batch} of {last}, {self._partitions} -> {partitions} partitions)"
        )
        try:
            if what == "rescale":
                self._ask(killed_after, "rescale", checkpoint=at, partitions=partitions)
            elif what == "vacuum":
                self._ask(killed_after, "vacuum", checkpoint=at)
            elif what == "rollback":
                self._ask(killed_after, "rollback", checkpoint=at, batch=batch)
            elif what == "rollback and undo":
                aside = self._driver().ask("rollback", checkpoint=at, batch=batch)
                if aside is not None:
                    self._driver().ask("undo_rollback", checkpoint=at, aside=aside)
            elif what == "savepoint":
                name = f"s{step}"
                self._driver().ask("savepoint", checkpoint=at, name=name)
                path = self._history.checkpoint / "keyfold" / "savepoints" / name
                self._copies.append((path, last, self._oracle.kept(self._history, last)))
            else:
                self._clone(chance, step, batch)
            self._counts[what] += 1
        except RefusedError as refusal:
            self._note(f"refused: {refusal}")
            self._counts[f"refused {what}: {str(refusal)[:60]}"] += 1
        self._history.update()
        self._partitions = self._partitions_now()
        self._check(chance)

    def _ask(self, killed_after: int | None, do: str, **arguments: Any) -> None:
        """Asks the driver to do it; one that is killed on the way leaves it to the next."""
        if killed_after is not None:
            self._note(f"killed after {killed_after} ms, and done again")
            self._counts[f"kill -9 in {do}"] += 1
            self._driver().tell(do, **arguments)
            time.sleep(killed_after / 1000)
            self._driver().kill()
        self._driver().ask(do, **arguments)

    def _clone(self, chance: Random, step: int, batch: int) -> None:
        """Clones it, and goes on with the one or the other."""
        to = self._folder / f"clone-{step}"
        old = self._history.checkpoint
        self._driver().ask("clone", checkpoint=str(old), to=str(to), batch=batch)
        if chance.random() < 0.6:
            self._note("go on with the clone")
            self._copies = [it for it in self._copies if old not in it[0].parents]
            self._history.checkpoint = to
            shutil.rmtree(old)
        else:
            kept = self._oracle.kept(self._history, batch)
            self._copies.append((to, batch, kept))

    def _partitions_now(self) -> int:
        """As the offset log has them: a rescale that was refused has changed nothing."""
        last = last_batch(self._history.checkpoint, "offsets")
        log = (self._history.checkpoint / "offsets" / str(last)).read_text()
        return int(log.split('"spark.sql.shuffle.partitions":"')[1].split('"')[0])

    def _note(self, what: str) -> None:
        """With the time since the start, which is not repeated with the seed."""
        self.steps.append(f"{time.monotonic() - self._began:.1f} s: {what}")
