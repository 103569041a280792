"""A query started once more, and what happens to it until it ends."""

import time
from dataclasses import asdict, dataclass, replace
from random import Random

from crash.spark_driver import CrashError
from crash.subject import Subject
from kit.kill_moment import KillMoment, last_batch
from kit.killed_sink import HALTS_BEFORE

POLL_S = 0.03
HANGS_S = 200
# A task that is killed too often has no time to come to its end.
MOST_KILLS = 3
# What a fault of ours may make Spark say. Anything else is not its fault.
EXPECTED = ("injected", "cancel", "nterrupt", "killed by chance", "ExecutorLost")
# Spark takes an interruption that comes while it copies a plan, or tells a Python runner what to
# run, for a failure.
STOPPED = (
    "java.lang.InterruptedException",
    "[STREAMING_PYTHON_RUNNER_INITIALIZATION_COMMUNICATION_FAILURE]",
)
# After these the query goes on when it is started again. Spark gives a worker ten seconds to start,
# which a machine with other work may not have; and its source of Kafka fails, on every provider,
# when a query has nothing to do but a batch that was begun: the batch is committed.
AGAIN = ("Python worker failed to connect back",)
AGAIN_FROM_KAFKA = ("KafkaMicroBatchStream$.metrics",)
END, STOP, KILL, CANCEL = "to the end", "query.stop()", "kill -9", "jobs cancelled"
# The driver dies between the sink's commit of a batch and the query's.
HALT = "halt before a commit"
HALTING = {"spark.sql.streaming.checkpointFileManagerClass": "io.keyfold.spark.HaltingFileManager"}


@dataclass(frozen=True)
class Turn:
    """What is to happen: an ending at a moment, and faults until then.

    One file call in `one_in` fails, none if it is 0; so many of `victim` are killed. A batch reads
    so many records of each topic at the most, 0: all.
    """

    ending: str = END
    moment: KillMoment | None = None
    fault_seed: int = 0
    one_in: int = 0
    kills: int = 0
    victim: str = "task"
    halts_before: int = -1
    most_records: int = 0
    starts: int = 4

    @classmethod
    def drawn(cls, subject: Subject, chance: Random, step: int, files: int) -> "Turn":
        """One by chance, for a query that has so many files to read."""
        seed = subject.world.seed * 1000 + step
        at = subject.history.checkpoint
        clustered = subject.world.is_clustered
        one_in = chance.choice((8, 30, 100)) if chance.random() < 0.3 else 0
        ending = chance.choices((END, STOP, KILL, CANCEL, HALT), (3, 5, 2, 2, 3))[0]
        kills = chance.randint(1, MOST_KILLS) if chance.random() < 0.2 + clustered / 3 else 0
        if ending == HALT:
            # That manager takes the place of the one with faults, and nothing else kills.
            one_in = kills = 0
        return cls(
            ending=ending,
            moment=KillMoment(seed, at, subject.partitions, operators=1, batches=files),
            fault_seed=seed,
            # Faults are decided upon in the driver's JVM. HDFSBacked does not bear them.
            one_in=0 if clustered or subject.world.provider else one_in,
            kills=kills,
            victim=chance.choice(("task", "executor")) if clustered else "task",
            halts_before=subject.history.last_committed + chance.randint(1, files),
            most_records=subject.world.kind.rows_per_file,
        )

    def __str__(self) -> str:
        """What a failure tells."""
        said = self.ending
        if self.ending == HALT:
            said += f": that of batch {self.halts_before}"
        elif self.moment is not None and self.ending != END:
            said += f" {self.moment.delay_ms} ms after {self.moment.event}"
        if self.one_in:
            said += f", one file call in {self.one_in} fails"
        return f"{said}, {self.kills} x {self.victim} killed" if self.kills else said

    def run(self, subject: Subject, step: int, chance: Random) -> None:
        """Does all that; raises CrashError if the query fails by itself."""
        world = subject.world
        halting = {**HALTING, HALTS_BEFORE: str(self.halts_before)} if self.ending == HALT else {}
        source = subject.input.source
        if self.most_records and world.reads_kafka:
            source["maxOffsetsPerTrigger"] = str(self.most_records)
        driver = subject.driver
        driver.ask(
            "start",
            kind=world.kind.name,
            totals=asdict(subject.history.totals),
            source=source,
            sink=world.sink,
            folder=str(subject.folder),
            checkpoint=subject.checkpoint,
            settings={
                "spark.sql.shuffle.partitions": str(subject.partitions),
                **world.settings,
                **world.settings_of_step(step),
                **halting,
            },
            fault_seed=self.fault_seed,
            one_in=self.one_in,
        )
        came = self._wait(subject, chance)
        subject.counts[self.ending if came or self.ending == END else f"{self.ending}, late"] += 1
        if came and self.ending in {KILL, HALT}:
            driver.check_alive()
            driver.kill()
            return
        if came and self.ending == STOP:
            driver.ask("stop")
        elif came and self.ending == CANCEL:
            driver.ask("cancel")
        if self._judge(subject) and self.ending == END:
            if self.starts == 1:
                raise CrashError("the query does not come to its end however often it is started")
            subject.note("started again")
            replace(self, starts=self.starts - 1).run(subject, step, chance)

    def _wait(self, subject: Subject, chance: Random) -> bool:
        """Whether the moment has come before the query has ended. Victims die meanwhile."""
        driver = subject.driver
        kills, now = self.kills, time.monotonic()
        deadline, next_kill = now + HANGS_S, now
        moment = None if self.ending in {END, HALT} else self.moment
        while moment is None or not moment.has_come():
            try:
                if driver.ask("ended"):
                    return False
            except CrashError:
                if self.ending == HALT and driver.has_halted():
                    self._check_halt(subject)
                    return True
                raise
            if time.monotonic() > deadline:
                raise driver.hangs(f"the query has not come to its end in {HANGS_S} s")
            if kills and time.monotonic() > next_kill:
                killed = (
                    driver.kill_executor(chance)
                    if self.victim == "executor"
                    else driver.ask("kill_task")
                )
                kills -= killed
                subject.counts[f"{self.victim} killed"] += killed
                next_kill = time.monotonic() + chance.uniform(0.2, 3)
            time.sleep(POLL_S)
        time.sleep(moment.delay_ms / 1000)
        return True

    def _check_halt(self, subject: Subject) -> None:
        """Raises CrashError if the JVM has not ended where it was to."""
        at = subject.history.checkpoint
        begun, committed = last_batch(at, "offsets"), last_batch(at, "commits")
        if begun < self.halts_before or committed != self.halts_before - 1:
            raise CrashError(
                f"the JVM ended with {begun} as the last batch and {committed} as the last commit"
            )

    def _judge(self, subject: Subject) -> bool:
        """Waits for the query's end and looks at how it went; whether to start it again."""
        told = subject.driver.ask("wait")
        subject.counts.update(told["faults"])
        error = told["error"]
        if error is None:
            return False
        subject.note(f"the query failed: {error.splitlines()[0][:200]}")
        subject.counts["query failed"] += 1
        may_fail = self.kills > 0 or self.one_in > 0 or self.ending == CANCEL
        expected = (EXPECTED if may_fail else ()) + (STOPPED if self.ending == STOP else ())
        passing = AGAIN + (AGAIN_FROM_KAFKA if subject.world.reads_kafka else ())
        again = any(it in error for it in passing)
        # Names of classes in frames, such as InterruptibleIterator, say nothing of the cause.
        lines = [it for it in error.splitlines() if not it.lstrip().startswith("at ")]
        if not again and not any(it in line for it in expected for line in lines):
            raise CrashError(f"the query failed: {error}")
        return again
