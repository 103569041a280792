"""Speculative copies of tasks that keep state: two attempts, two files, one that counts."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import keyfold
from cluster.attempts import Attempt, state_attempts
from cluster.keyed_values import KEYS, expected, write_input
from cluster.speculation_plan import (
    BATCHES,
    ORIGINAL_FIRST,
    ORIGINAL_UNCOMMITTED,
    PARTITIONS,
    planned,
)
from cluster.standalone import Standalone
from kit.checkpoint_place import LOCAL, CheckpointPlace
from kit.kill_moment import state_files
from kit.submit import Spark

JOB = "cluster/speculation_job.py"
CONF = {
    "spark.sql.shuffle.partitions": PARTITIONS,
    # The jobs begin when both executors are there.
    "spark.cores.max": 2,
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    # A copy is made of what takes a little longer than another task did, at once and anywhere.
    "spark.speculation": "true",
    "spark.speculation.interval": "20ms",
    "spark.speculation.quantile": "0.25",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.minTaskRuntime": "100ms",
    "spark.speculation.efficiency.enabled": "false",
    "spark.locality.wait": "0s",
    # The core of an attempt that is killed is free at once.
    "spark.python.task.killTimeout": "100ms",
    # A second attempt can only be a copy.
    "spark.task.maxFailures": 1,
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": 2,
    "spark.sql.streaming.stateStore.maintenanceInterval": "100ms",
}


@pytest.fixture
def spark(tmp_path: Path) -> Iterator[Spark]:
    """Starts applications on two executors that are on hosts of their own."""
    with (
        closing(Standalone(tmp_path)) as cluster,
        closing(Spark(tmp_path, cluster.url)) as spark,
    ):
        yield spark


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("checkpoint", "parallelisms"),
    [
        pytest.param(LOCAL, ((), ()), id=LOCAL),
        pytest.param(LOCAL, (("4",), ("3",)), marks=pytest.mark.long, id="subtasks"),
    ],
    indirect=["checkpoint"],
)
def test_of_two_speculative_attempts_the_one_that_won_counts_fault_1(
    spark: Spark,
    tmp_path: Path,
    checkpoint: CheckpointPlace,
    parallelisms: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    source, output, meetings, events = (
        tmp_path / name for name in ("in", "out", "meetings", "events")
    )
    meetings.mkdir()
    events.mkdir()
    conf = {**CONF, **checkpoint.conf, "spark.eventLog.dir": events.as_uri()}
    job = (JOB, source, checkpoint.url, output, meetings)

    write_input(source, first=0, files=BATCHES)
    spark.run(*job, *parallelisms[0], conf=conf)
    attempts = attempts_in(events)
    for batch in range(BATCHES):
        kind, partition = planned(batch)
        pair = {it.number: it for it in attempts if (it.batch, it.partition) == (batch, partition)}
        assert_twins(kind, pair)
        committed = len(list(meetings.glob(f"{batch}-*")))
        files = state_files(checkpoint.files / "state" / "0" / str(partition))
        deltas = [it for it in files if re.fullmatch(rf"{batch + 1}_.*\.delta", it)]
        assert len(deltas) == committed == (1 if kind == ORIGINAL_UNCOMMITTED else 2)

    # The second run has nothing in memory: it reads the files that the commit log names.
    write_input(source, first=BATCHES, files=1)
    spark.run(*job, *parallelisms[1], conf=conf)

    rows = [json.loads(line) for line in lines_of(output / str(BATCHES))]
    counts = sorted((row["key"], row["rows"], row["total"]) for row in rows)
    assert counts == expected(BATCHES + 1)

    won = {(it.batch, it.partition): it.number for it in attempts_in(events) if it.end == "Success"}
    for row in rows:
        winners = [won[batch, int(it)] for batch, it in enumerate(row["partitions"])]
        assert row["attempts"] == "".join(map(str, winners))

    opened = keyfold.open_checkpoint(checkpoint.uri)
    assert opened.describe().problems == ()
    table = opened[0]["counts"] if any(parallelisms) else opened[0].only
    assert table.count() == KEYS


def attempts_in(events: Path) -> list[Attempt]:
    return [it for log in sorted(events.iterdir()) for it in state_attempts(log)]


def assert_twins(kind: str, pair: dict[int, Attempt]) -> None:
    assert sorted(pair) == [0, 1], kind
    original, twin = pair[0], pair[1]
    assert (original.speculative, twin.speculative) == (False, True)
    assert original.host != twin.host
    winner, loser = (original, twin) if kind == ORIGINAL_FIRST else (twin, original)
    assert winner.end == "Success"
    assert loser.end in {"TaskKilled", None}


def lines_of(folder: Path) -> list[str]:
    return [line for part in folder.glob("part-*") for line in part.read_text().splitlines()]
