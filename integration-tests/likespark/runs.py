"""Runs of many seeds in one Spark, and what they came to."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyspark.sql import SparkSession

from kit.places import INTEGRATION_TESTS
from likespark.state import difference_of_states
from likespark.trial import Trial, signature
from likespark.verdict import AGREE, APART, Verdict, verdict
from likespark.world import World

# Without them Hadoop starts a process for each file.
SHELLLESS = {
    "spark.hadoop.fs.file.impl": "io.keyfold.testkit.ShelllessLocalFileSystem",
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "io.keyfold.testkit.ShelllessLocalFs",
}
# What a run of a second or two would else spend most of its time on.
SETTINGS = {
    "spark.sql.streaming.stateStore.maintenanceInterval": "1h",
    "spark.python.daemon.module": "kit.daemon",
    **SHELLLESS,
}


class Runs:
    """Runs seeds; `failed` has those that Keyfold alone fails or answers otherwise."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark, self._folder = spark, folder
        self.verdicts: dict[str, list[int]] = defaultdict(list)
        self.operators: Counter[str] = Counter()
        self.types: Counter[str] = Counter()
        self.failed: list[int] = []
        spark.sparkContext.environment["PYTHONPATH"] = str(INTEGRATION_TESTS)

    def run(self, seed: int) -> str:
        """Runs a seed on all providers at once; what it came to."""
        world = World(seed)
        folder = self._folder / f"seed-{seed}"
        self._spark.sparkContext.environment["TZ"] = world.zone
        trials = {it: Trial(world, it, self._spark, folder) for it in world.providers}
        with ThreadPoolExecutor(len(trials)) as pool:
            for number in range(len(world.files)):
                world.write_files(folder, number)
                list(pool.map(lambda it, number=number: it.start(number), trials.values()))
        found = verdict(trials)
        if found.kind == AGREE and world.compares_state:
            wrong = difference_of_states(trials)
            found = Verdict(f"state {wrong[0]}", wrong[1]) if wrong else found
        self._unload()
        return self._noted(world, trials, found, folder)

    def _unload(self) -> None:
        # As at an application's end; else their memory stays until maintenance finds them.
        self._spark._jvm.org.apache.spark.sql.execution.streaming.state.StateStore.stop()

    def _noted(self, world: World, trials: dict[str, Trial], found: Verdict, folder: Path) -> str:
        self.operators[world.operator.name] += 1
        self.types.update({it.type for it in world.keys})
        self.verdicts[found.kind].append(world.seed)
        for it in trials.values():
            if it.refused:
                self.verdicts[f"rescale: {signature(it.refused)}"].append(world.seed)
        head = f"seed {world.seed}, {world.operator.name}: {found.kind}"
        if found.wrong is None:
            shutil.rmtree(folder, ignore_errors=True)
            if found.kind != APART:
                return head
            says = (f"  {name}: {it.failure or it.answers}" for name, it in trials.items())
            return "\n".join([head, str(world), *(it[:600] for it in says)])
        if found.is_known:
            shutil.rmtree(folder, ignore_errors=True)
            return head
        self.failed.append(world.seed)
        return (
            f"{head}\n{world}\n  {found.wrong[:3000]}\n  Its files are in {folder}. "
            f"To repeat it: make like-spark RUNS=1 SEED={world.seed}"
        )

    def summary(self) -> str:
        """Counts by verdict, operator and type of key; of verdicts also the first seeds."""
        lines = [
            f"{len(seeds):>6,}  {kind}: {', '.join(map(str, seeds[:5]))}"
            for kind, seeds in sorted(self.verdicts.items(), key=lambda it: -len(it[1]))
        ]
        for counts in (self.operators, self.types):
            lines += ["", *(f"{times:>6,}  {what}" for what, times in counts.most_common())]
        return "\n".join(lines)
