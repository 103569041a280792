"""A query that changes again and again, beside a plain model.

KEYFOLD_EVOLUTIONS changes of KEYFOLD_EVOLVED queries each, from KEYFOLD_SEED.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import keyfold
from kit.queries.rows import Row, write_file
from kit.queries.streams import streams
from kit.queries.totals import Groups

pytestmark = pytest.mark.spark

QUERIES = int(os.environ.get("KEYFOLD_EVOLVED", "1"))
CHANGES = int(os.environ.get("KEYFOLD_EVOLUTIONS", "4"))
FIRST_SEED = int(os.environ.get("KEYFOLD_SEED", "1"))


class Query:
    """Its input, and what it has said and keeps."""

    def __init__(self, spark: SparkSession, root: Path, chance: Random) -> None:
        self._spark, self._root, self._chance = spark, root, chance
        self._files = 0
        self.groups = Groups()
        self.checkpoint = root / "0"

    @property
    def question(self) -> DataFrame:
        return self.groups.totals.question(streams(self._spark, self._root).rows)

    def run(self) -> None:
        """One batch, or some."""
        said: dict[int, list[tuple[Any, ...]]] = {}
        expected = []
        for _ in range(self._chance.randint(1, 2)):
            rows = [
                Row(it, self._chance.choice("abc"), self._chance.randint(-3, 3), it)
                for it in self._chance.sample(range(1000), self._chance.randint(1, 20))
            ]
            write_file(self._root, self._files, rows, [])
            self._files += 1
            expected.append(self.groups.take(rows))
        writer = self.question.writeStream.outputMode("update").trigger(availableNow=True)
        writer = writer.foreachBatch(
            lambda batch, number: said.update({number: [tuple(it) for it in batch.collect()]})
        )
        writer.option("checkpointLocation", str(self.checkpoint)).start().awaitTermination()
        found = [sorted(said[it], key=str) for it in sorted(said)]
        assert found == [sorted(it, key=str) for it in expected]

    def change(self, number: int) -> None:
        before, to = self.question, self._root / str(number)
        totals = self.groups.totals.changed(self._chance)
        self.groups.evolve(totals)
        # Names tell these aggregates apart; the query before does too.
        old = before if self._chance.random() < 1 / 2 else None
        keyfold.evolve(
            self.checkpoint, self.question, to, output_mode="update", before=old, dry_run=False
        )
        self.checkpoint = to

    def check(self) -> None:
        opened = keyfold.open_checkpoint(self.checkpoint)
        rows = opened["agg"].only.scan().to_pylist()
        found = [(tuple(it["key"].values()), tuple(it["value"].values())) for it in rows]
        assert sorted(found, key=str) == sorted(self.groups.rows(), key=str)
        assert opened.fsck(deep=True).findings == ()


@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + QUERIES))
def test_a_query_that_changes_goes_on_with_its_state(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    query = Query(spark, tmp_path, Random(seed))  # noqa: S311 - a seed repeats it
    query.run()
    for number in range(1, CHANGES + 1):
        query.change(number)
        query.check()
        query.run()
    query.check()
