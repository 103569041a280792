"""All that a seed decides."""

from __future__ import annotations

from pathlib import Path
from random import Random

from pyspark.sql import DataFrame, SparkSession

from likespark.after import AFTER, ORDERED
from likespark.asked import Asked
from likespark.inputs import write_files
from likespark.keys import KeyColumn, draw_keys
from likespark.operators import OPERATORS
from likespark.settings import NO_EMPTY_BATCHES, ZONES, draw_settings, of_provider
from likespark.sinks import SHAPES

SPARKS, KEYFOLD = ("rocksdb", "hdfs"), "keyfold"


class World:
    """A query, its input, and how it is started again and again.

    Attributes:
        operator: asks the question.
        keys: columns that it groups by.
        mode: output mode.
        after: name of what follows the operator.
        sink: memory, json, noop, or the shape of a `foreachBatch`.
        trigger: availableNow, once, or until all is processed.
        zone: of Python's workers.
        files: how many each start finds more.
        partitions: to which Keyfold is rescaled before each start but the first; None if not.
        settings: of all providers.
        compares_state: whether also the state is compared.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        chance = self._chance("world")
        self.operator = chance.choice(OPERATORS)
        self.keys: list[KeyColumn] = draw_keys(chance, for_python=self.operator.in_python)
        self.mode = chance.choice(self.operator.modes)
        its = {**AFTER, **ORDERED} if self.mode == "complete" else AFTER
        self.after = chance.choice(list(its)) if chance.random() < 0.35 else "nothing"
        self.sink = self._sink(chance)
        self.trigger = chance.choice(("availableNow",) * 4 + ("once", "all"))
        self.zone = chance.choice(ZONES)
        self.files = [chance.choice((1, 1, 2)) for _ in range(chance.choice((1, 2, 2, 2, 2, 3)))]
        if self.sink == "memory" and self.mode != "complete":
            self.files = self.files[:1]
        self.partitions = [chance.choice((None, None, 1, 2, 3, 4, 5, 7, 8)) for _ in self.files[1:]]
        self.settings = draw_settings(chance, self.operator.name)
        if self.operator.in_processing_time:
            self.settings.update([NO_EMPTY_BATCHES])
            self.trigger = "availableNow"
        self.compares_state = chance.random() < 0.2 or self.sink == "noop"

    def _sink(self, chance: Random) -> str:
        # Only in complete mode does the first go on after a restart.
        others = ["memory"] * (4 if self.mode == "complete" else 1)
        others += ["noop"] * 4 + (["json"] * 8 if self.mode == "append" else [])
        if chance.random() < 0.2:
            return chance.choice(others)
        return chance.choice(["one action"] * 4 + list(SHAPES))

    def _chance(self, what: str) -> Random:
        return Random(f"{self.seed} {what}")

    @property
    def providers(self) -> tuple[str, ...]:
        """Keyfold, and those of Spark's that can run the operator."""
        version = self.settings.get("spark.sql.streaming.join.stateFormatVersion", "2")
        on_hdfs = self.operator.on_hdfs and int(version) <= 2
        return (KEYFOLD, *(SPARKS if on_hdfs else SPARKS[:1]))

    def settings_of(self, provider: str) -> dict[str, str]:
        return {**self.settings, **of_provider(provider, self._chance("format"))}

    def write_files(self, folder: Path, start: int) -> None:
        """Writes those that a start finds more."""
        before = sum(self.files[:start])
        numbers = range(before, before + self.files[start])
        is_last = start == len(self.files) - 1
        write_files(folder, self._chance(f"start {start}"), numbers, is_last=is_last)

    def ask(self, session: SparkSession, folder: Path) -> DataFrame:
        """The query over the files of a folder, the same each time."""
        rows = self.operator.ask(self._asked(session, folder))
        return {**AFTER, **ORDERED}[self.after](rows)

    def _asked(self, session: SparkSession, folder: Path) -> Asked:
        return Asked(session, folder, self.keys, self.mode, self._chance("question"))

    def __str__(self) -> str:
        """What it is, for whoever looks into a failure."""
        lines = [
            (
                f"{self.operator.name}, {self.mode}, then {self.after}; sink: {self.sink}; "
                f"trigger: {self.trigger}; workers' zone {self.zone}"
            ),
            f"files {self.files}, rescaled to {self.partitions}",
            *(f"key {it.quoted} {it.type}: {it.expression}" for it in self.keys),
            *(f"{key}={value}" for key, value in sorted(self.settings.items())),
        ]
        return "\n".join(f"  {it}" for it in lines)
