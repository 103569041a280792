"""What a seed decides once and for all: a query, its settings, and the rows it is given."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from crash.kinds import KINDS, Kind
from crash.sinks import APPEND_ONLY, DATABASE, FILES, FUNCTION
from kit.connectors import DELTA, ICEBERG
from kit.installation import HERE
from kit.queries.rows import END, Link, Row
from kit.submit import LOCAL_CLUSTER

# Seeds of one decade have the settings in common that a JVM takes once, and so may share one.
SEEDS_PER_JVM = 10
MOST_PARTITIONS = 5
MOST_FILES = 9
MINUTES_PER_FILE = 120
KEYS = 12

STREAMING = "spark.sql.streaming"
STORE = f"{STREAMING}.stateStore"


def chance_of(seed: int, what: str) -> random.Random:
    """A source of chance of its own for each thing that is decided."""
    return random.Random(f"{seed} {what}")


@dataclass(frozen=True)
class World:
    """The life of one query, as far as its seed decides it.

    With the `provider` of Spark's own its state is not looked at, and nobody changes it.
    """

    seed: int
    provider: str = ""

    @cached_property
    def line(self) -> str:
        """The line of Spark: Delta and Iceberg are not there for the newest ones."""
        return chance_of(self.seed // SEEDS_PER_JVM, "line").choice([HERE.line, "4.1"])

    @cached_property
    def kind(self) -> Kind:
        modes = ["append"] if self.sink in APPEND_ONLY else ["append", "update"]
        kinds = [it for it in KINDS if it.since <= self.line and it.mode in modes]
        if self.provider:
            kinds = [it for it in kinds if not it.has_column_families]
        return chance_of(self.seed, "kind").choice(kinds)

    @cached_property
    def reads_kafka(self) -> bool:
        """Whether its input is topics of Kafka; else it is files."""
        return chance_of(self.seed, "source").random() < 0.4

    @cached_property
    def sink(self) -> str:
        """One of `crash.sinks`."""
        own = [DELTA, ICEBERG] if self.line == "4.1" else [FUNCTION, FUNCTION]
        return chance_of(self.seed, "sink").choice([FUNCTION, DATABASE, FILES, *own])

    @property
    def name(self) -> str:
        """What it is, for whoever looks for some of its kind."""
        source = "Kafka" if self.reads_kafka else "files"
        return f"{self.kind.name}, {source} to {self.sink}, Spark {self.line}"

    @cached_property
    def partitions(self) -> int:
        return chance_of(self.seed, "partitions").randint(1, MOST_PARTITIONS)

    @cached_property
    def settings(self) -> Mapping[str, str]:
        """Settings of the query that stay."""
        pick = chance_of(self.seed, "settings").choice
        found = {
            f"{STORE}.checkpointFormatVersion": pick("1" if self.provider else "122"),
            f"{STORE}.rowChecksum.enabled": pick(["true", "false"]),
            f"{STORE}.rowChecksum.readVerificationRatio": pick(["0", "1", "10"]),
            # What each batch read is told by the function, else only by Spark's log.
            f"{STREAMING}.minBatchesToRetain": pick(
                ["2", "3", "10"] if self.sink == FUNCTION else ["10"]
            ),
            # Compiling takes longer than running here; but rows live otherwise in compiled code.
            "spark.sql.codegen.wholeStage": pick(["true", "false", "false"]),
        }
        groups = pick(["", "1", "2", "12", "60"])
        if groups:
            found[f"{STORE}.keyfold.keyGroups"] = str(self.partitions * int(groups))
        own: dict[str, str] = {}
        if self.provider:
            own[f"{STORE}.providerClass"] = self.provider
            # Spark 4.1 may end the threads that write these while a task of HDFSBacked commits.
            own[f"{STREAMING}.checkpoint.fileChecksum.enabled"] = "false"
        return found | self.kind.settings | own

    @cached_property
    def jvm_settings(self) -> Mapping[str, str]:
        """Settings that the first query of a JVM decides, or its start."""
        pick = chance_of(self.seed // SEEDS_PER_JVM, "JVM").choice
        found = {
            "spark.master": pick(["local[2]", "local[2,3]", "local[3,2]", LOCAL_CLUSTER]),
            "spark.executor.memory": "1g",
            f"{STORE}.maintenanceInterval": pick(["50ms", "200ms", "1s"]),
            "spark.driver.extraJavaOptions": pick(["", "-Dkeyfold.mem.checks=true"]),
        }
        memory = pick(["", "65536", "1048576"])
        return found | ({f"{STORE}.keyfold.memory.maxBytes": memory} if memory else {})

    @cached_property
    def is_clustered(self) -> bool:
        """Whether executors are processes of their own."""
        return self.jvm_settings["spark.master"] == LOCAL_CLUSTER

    def settings_of_step(self, step: int) -> Mapping[str, str]:
        """Settings that may be others each time that the query is started."""
        pick = chance_of(self.seed, f"settings {step}").choice
        return {
            f"{STORE}.keyfold.compression.codec": pick(["zstd", "lz4", "none"]),
            f"{STORE}.minDeltasForSnapshot": pick(["1", "2", "5", "10"]),
            f"{STORE}.keyfold.snapshotAfterDeltaBytes": pick(["2000", "134217728"]),
            f"{STORE}.keyfold.snapshotAfterShare": pick(["0.5", "1000"]),
            f"{STREAMING}.maxBatchesToRetainInMemory": pick(["0", "2", "3"]),
            f"{STORE}.maxVersionsToDeletePerMaintenance": pick(["1", "30"]),
            f"{STORE}.unloadOnCommit": pick(["true", "false", "false"]),
        }

    @property
    def files(self) -> int:
        """Number of files of each stream; the last one is the end."""
        return chance_of(self.seed, "files").randint(3, MOST_FILES)


def contents_of(world: World, file: int) -> tuple[list[Row], list[Link]]:
    """Rows and links of a file; the last one moves the watermark past everything else."""
    if file == world.files - 1:
        return [Row(-999, "end", 0, END)], [Link(-999, END)]
    return contents(world.seed, file, world.kind.rows_per_file)


@lru_cache(maxsize=64)
def contents(seed: int, file: int, most: int) -> tuple[list[Row], list[Link]]:
    """Rows and links of a file: some are late, and some have been in a file before."""
    chance = chance_of(seed, f"file {file}")
    new = _new_rows(seed, file, most)
    old = [row for it in range(max(0, file - 2), file) for row in _new_rows(seed, it, most)]
    rows = (
        new + chance.sample(old, min(len(old), len(new) // 6)) + chance.sample(new, len(new) // 9)
    )
    chance.shuffle(rows)
    linked = chance.sample(new, len(new) // 2) + chance.sample(old, min(len(old), len(new) // 6))
    links = [Link(row.id, row.minute + chance.randint(0, 40)) for row in linked]
    links += [Link(-1, file * MINUTES_PER_FILE + minute) for minute in (5, 65, 119)]
    return rows, links


def _new_rows(seed: int, file: int, most: int) -> list[Row]:
    chance = chance_of(seed, f"rows {file}")
    found: list[Row] = []
    for number in range(chance.randint(most // 4, most)):
        late = chance.randint(0, 400) if chance.random() < 0.1 else 0
        minute = max(0, file * MINUTES_PER_FILE + chance.randrange(MINUTES_PER_FILE) - late)
        key = f"k{chance.randrange(KEYS)}"
        found.append(Row(file * 10_000 + number, key, chance.randrange(101), minute))
    return found
