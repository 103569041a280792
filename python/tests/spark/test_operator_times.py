"""Timestamps of an operator mean the same instant in every zone of workers and sessions."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import keyfold
from kit.session import NEEDS_JAR
from python.tests.spark.subtasks import Query

pytestmark = NEEDS_JAR
register_pickle_by_value(sys.modules[__name__])

UTC = dt.timezone.utc
# Noon in summer, half past one at night of the day on which New York sets clocks back, twice, and
# the night on which its clocks skip that hour; the first day that PySpark can read.
TIMES = [
    "2026-07-01T12:00",
    "2026-11-01T05:30",
    "2026-11-01T06:30",
    "2026-03-08T07:30",
    "0001-01-03T00:00",
]
MICROS = [
    int(dt.datetime.fromisoformat(it).replace(tzinfo=UTC).timestamp()) * 1_000_000 for it in TIMES
]


class Keeps(keyfold.OperatorFunction):
    """Keeps timestamps, rewrites them as a sink that still holds them back, and yields them."""

    def open(self, ctx: keyfold.OperatorContext) -> None:
        self.times = ctx.list_state(
            "times", "t timestamp, more array<timestamp>, wall timestamp_ntz"
        )
        self.ids = ctx.broadcast_state("ids", "t timestamp", "id int")

    def process(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table | pd.DataFrame]:
        for batch in batches:
            for t in filter(None, batch.column("t").to_pylist()):
                self.times.add(t, [t], t.astimezone(UTC).replace(tzinfo=None))
                self.ids.put((t,), (0,))
        self.times.update(self.times.get())
        for (key,), value in self.ids.items():
            self.ids.put((key,), value)
        times, ids = self.times.get(), self.ids.items()
        yield pa.table({"how": ["list"] * len(times), "t": [t for t, _, _ in times]})
        yield pd.DataFrame({"how": "in an array", "t": [more[0] for _, more, _ in times]})
        yield pa.table(
            {"how": ["wall"] * len(times), "t": [it.replace(tzinfo=UTC) for *_, it in times]}
        )
        yield pa.table({"how": ["map"] * len(ids), "t": [t for (t,), _ in ids]})
        assert {t.tzinfo for t, *_ in times} == {UTC}


@pytest.mark.parametrize("session_zone", ["UTC", "America/New_York"])
def test_timestamps_are_the_same_in_every_zone(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, session_zone: str
) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", session_zone)
    query = Query(session, tmp_path, Keeps())
    query.add("in", [{"t": f"{it}:00Z"} for it in TIMES])
    for worker_zone in ("America/New_York", "Asia/Kolkata", "UTC"):
        monkeypatch.setitem(spark.sparkContext.environment, "TZ", worker_zone)
        df = keyfold.with_operator_state(
            query.source("in", "t timestamp"),
            query.function,
            "how string, t timestamp",
            parallelism=1,
        )
        found = query.run(df.select("how", f.expr("unix_micros(t)")))
        expected = [(how, it) for how in ("list", "in an array", "wall", "map") for it in MICROS]
        assert found == sorted(expected), worker_zone
        # The next batch reads what the workers of this zone wrote.
        query.add("in", [{"t": None}])
