"""Random operators, states, parallelisms, partitions, kills and bad starts, beside a plain model.

KEYFOLD_OPERATOR_RUNS random queries of KEYFOLD_OPERATOR_STEPS batches each, from KEYFOLD_SEED.
With KEYFOLD_OPERATOR_KILLS, so many of a hundred starts are killed with -9, wherever they are.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

import keyfold
from keyfold.errors import JvmError
from kit.session import NEEDS_JAR
from python.tests.spark import killed_start
from python.tests.spark.killed_start import ENCODING, EXTRA_SPACE, PARTITIONS, RETAINED, ZONE
from python.tests.spark.operator_model import (
    BUG,
    MOST,
    VALUES,
    ZONES,
    Applies,
    ModelledQuery,
    States,
    none_of,
    random_batch,
    random_specs,
    redistributed,
    valued,
)

pytestmark = NEEDS_JAR

RUNS = int(os.environ.get("KEYFOLD_OPERATOR_RUNS", "2"))
STEPS = int(os.environ.get("KEYFOLD_OPERATOR_STEPS", "4"))
KILLS = int(os.environ.get("KEYFOLD_OPERATOR_KILLS", "0")) / 100
FIRST_SEED = int(os.environ.get("KEYFOLD_SEED", "1"))

NO_CHANGE = ("KEYFOLD_RESCALE_RACE", "KEYFOLD_REDISTRIBUTE_PARALLELISM")
REFUSALS = r"KEYFOLD_OPERATOR_STATE_CHANGED|STATE_STORE_\w*SCHEMA"
AVRO = "encoding format as avro is not supported"
MOVED = rf"KEYFOLD_OPERATOR_PLACE|STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA|{AVRO}"


class Life:
    """A query, and what its states must be."""

    def __init__(self, spark: SparkSession, root: Path, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 - a seed repeats it
        self.specs = random_specs(self.random)
        session = spark.newSession()
        session.conf.set(ENCODING, self.random.choice(["unsaferow", "avro"]))
        session.conf.set(ZONE, self.random.choice(ZONES))
        # Old files are deleted after each batch, or none are.
        session.conf.set(RETAINED, self.random.choice([2, 100]))
        session.conf.set(EXTRA_SPACE, 0)
        self.query = ModelledQuery(session, root, self.specs)
        # The states that the last committed batch has left; those in the files, if a command made
        # others of them since.
        self.model: States = none_of(self.specs, self._parallelism())
        self.now = self.model
        self.name = f"seed {seed}"

    def step(self, number: int) -> None:
        self.batch = random_batch(self.random, self.specs)
        self.batch.add_to(self.query)
        self.draw_partitions()
        if number and self.random.random() < 0.3:
            self.lose_commit()
        while self.random.random() < 0.5:
            self.start_badly(number)
        if number and self.random.random() < 0.5:
            self.command()
        before = self.offsets()
        parallelism = self._parallelism()
        self.draw_partitions()
        if self.random.random() < KILLS:
            killed_start.run(self.query, self._applies(), parallelism, self.random)
        if self.offsets() == before:
            parallelism = self._parallelism()
            self.query.run(self.query.df(parallelism, self._applies()))
        self.model = self.batch.after(redistributed(self.model, self.specs, parallelism))
        self.now = self.model
        self.check(f"{self.name}, step {number}")

    def check(self, when: str) -> None:
        found = self.query.found(len(self.now))
        assert found == valued(self.now, self.specs), when

    def draw_partitions(self) -> None:
        """Perhaps another number for the next starts; one that was killed is to be finished."""
        if self.random.random() < 0.4:
            self.query.spark.conf.set(PARTITIONS, self.random.randint(1, 6))

    def committed(self) -> int:
        commits = (self.query.checkpoint / "commits").glob("[0-9]*")
        return max((int(it.name) for it in commits), default=-1)

    def offsets(self) -> str:
        """Of the last committed batch: a rescale may have one of its own."""
        entry = self.query.checkpoint / "offsets" / str(self.committed())
        return entry.read_text().splitlines()[-1] if entry.exists() else ""

    def lose_commit(self) -> None:
        """The driver is killed before the commit; the batch runs again, in other subtasks."""
        self.query.run(self.query.df(len(self.now), self._applies()))
        (self.query.checkpoint / "commits" / str(self.committed())).unlink()

    def start_badly(self, number: int) -> None:
        """Whatever it is, and with whatever parallelism, it leaves no trace."""
        self.draw_partitions()
        parallelism, specs = self._parallelism(), dict(self.specs)
        function, shards, said = self._applies(), None, REFUSALS
        kinds = ["fails", "fails", "sources"] + ["lacks", "another", "schema", "kind", "moved"] * (
            number > 0
        )
        kind = self.random.choice(kinds)
        name = self.random.choice(list(specs))
        rule, schema = specs[name]
        if kind == "fails":
            function, said = self._applies(fails_at=self.random.choice([0, 1, 2, 5, 100])), BUG
        elif kind == "lacks":
            del specs[name]
        elif kind == "another":
            specs["another"] = ("split", "a int")
        elif kind == "schema":
            specs[name] = (rule, self.random.choice([it for it in VALUES if it != schema]))
        elif kind == "kind":
            specs[name] = ("union" if rule == "split" else "split", schema)
        if kind == "moved":
            source = self.query.source("in", "shard int, op string")
            shards, said = source.dropDuplicates(), MOVED
        df = self.query.df(parallelism, Applies(specs, function.zone, function.fails_at), shards)
        if kind == "sources":
            df, said = df.union(self.query.source("other", "v int")), "sources"
            self.query.add("other", [{"v": 1}])
            if not number and not list(self.query.checkpoint.glob("offsets/*")):
                return
        with pytest.raises(Exception, match=said):
            self.query.run(df)
        # A start gives its parallelism to what the last batch left.
        if number:
            parallelism = self._files_parallelism()
            self.now = redistributed(self.model, self.specs, parallelism)
            self.check(f"{self.name}, after a start that was bad: {kind}")

    def command(self) -> None:
        """A rescale; or one redistribution, or two at once."""
        if self.random.random() < 0.3:
            self.rescale()
            return
        wanted = self.random.sample(
            [self._parallelism() for _ in range(3)], self.random.choice([1, 2])
        )
        with ThreadPoolExecutor(len(wanted)) as pool:
            done = list(pool.map(self._redistributed, wanted))
        if any(done):
            parallelism = self._files_parallelism()
            assert parallelism in [it for it, is_done in zip(wanted, done, strict=True) if is_done]
            self.now = redistributed(self.model, self.specs, parallelism)
        self.check(f"{self.name}, after commands to {wanted}, done {done}")

    def rescale(self) -> None:
        """It goes by what the last batch left."""
        partitions = self.random.randint(1, 6)
        try:
            keyfold.rescale(self.query.checkpoint, partitions, dry_run=False)
            self.now = self.model
        except JvmError as error:
            if error.condition != "KEYFOLD_RESCALE_PARTITIONS":
                raise
        self.check(f"{self.name}, after a rescale to {partitions}")

    def _redistributed(self, parallelism: int) -> bool:
        try:
            keyfold.redistribute(self.query.checkpoint, "Applies", parallelism, dry_run=False)
        except JvmError as error:
            if error.condition not in NO_CHANGE:
                raise
            return False
        return True

    def _files_parallelism(self) -> int:
        [operator] = keyfold.open_checkpoint(self.query.checkpoint).operators
        own = operator["subtask_of_Applies"].scan().to_arrow().to_pylist()
        [parallelism] = {it["value"]["parallelism"] for it in own}
        assert len(own) == parallelism
        return int(parallelism)

    def _parallelism(self) -> int:
        least = self.random.choice([5, 9, MOST])
        return self.random.randint(1, least)

    def _applies(self, fails_at: int | None = None) -> Applies:
        return Applies(self.specs, self.random.choice(ZONES), fails_at)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + RUNS))
def test_states_are_those_of_a_plain_model(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    life = Life(spark, tmp_path, seed)
    for number in range(STEPS):
        life.step(number)
    found = keyfold.open_checkpoint(life.query.checkpoint).fsck(deep=True)
    assert [it for it in found.findings if it.is_damage] == [], life.name
