"""A pipeline with every stateful operator, rescaled between its two runs."""

from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import keyfold
from keyfold.settings import PARTITIONS_KEY, SPARK_LINES
from kit.installation import HERE, installation_of
from kit.lines import EVERY_LINE
from pipelines.project import Project

# Rows of a run, 15 seconds apart, with pauses that end sessions, one of them in each run.
HALF, STEP_S, PART = 80, 15, 60
START_S, WINDOW_S, PAUSE_S = 900_000, 15 * 60, 5 * 60
KEYS, IDS = 4, 50
BEFORE, AFTER = 3, 5
ROWS = [
    {"id": n % IDS, "key": n % KEYS, "value": n, "at": START_S + n * STEP_S + n // PART * PAUSE_S}
    for n in range(2 * HALF)
]
FIRSTS = ROWS[:HALF]
# The watermark passes all others. Its own window and session stay open.
LAST = {"id": -1, "key": -1, "value": -1, "at": 9_000_000}
CONF = {"half": str(HALF), "spark.sql.shuffle.partitions": str(BEFORE)}


def sums(rows: Iterable[dict[str, int]]) -> list[tuple[int, int]]:
    totals = Counter[int]()
    for row in rows:
        totals[row["key"]] += row["value"]
    return list(totals.items())


def counts(rows: Iterable[dict[str, int]]) -> list[tuple[int, int]]:
    return list(Counter(row["key"] for row in rows).items())


def windows() -> list[tuple[int, int, int]]:
    found = Counter[tuple[int, int]]()
    for row in ROWS:
        found[row["key"], row["at"] // WINDOW_S * WINDOW_S] += row["value"]
    return [(*window, total) for window, total in found.items()]


def sessions() -> list[tuple[int, int, int]]:
    parts = [ROWS[first : first + PART] for first in range(0, len(ROWS), PART)]
    return [
        (key, min(row["at"] for row in part if row["key"] == key), rows)
        for part in parts
        for key, rows in counts(part)
    ]


EXPECTED: dict[str, list[tuple[Any, ...]]] = {
    "windows": windows(),
    "sessions": sessions(),
    "join": [(n, n) for n in range(HALF)],
    "totals": sums(FIRSTS) + sums(ROWS) + [(-1, -1)],
    "groups": counts(FIRSTS) + counts(ROWS) + [(-1, 1)],
}
OPERATORS = {*EXPECTED, "dedup", "dedup_within", "limit"}


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("line", SPARK_LINES[1:] if EVERY_LINE else [HERE.line])
def test_every_operator_of_a_pipeline_goes_on_after_a_rescale(tmp_path: Path, line: str) -> None:
    with closing(Project(tmp_path, installation_of(line))) as project:
        project.add(FIRSTS)
        project.run(CONF)
        flows = {it.name: it for it in keyfold.pipeline_flows(project.storage)}
        assert set(flows) == OPERATORS
        assert flows["limit"].target == "first"
        assert flows["dedup"].target == "spark_catalog.default.dedup"
        state = keyfold.open_checkpoint(flows["totals"].checkpoint)["tws"].only.scan().to_arrow()
        assert sorted(
            (*it["key"].values(), *it["value"].values()) for it in state.to_pylist()
        ) == sorted(sums(FIRSTS))

        # One by the command, the others when they start.
        project.keyfold("rescale", flows["windows"].checkpoint, "--to", str(AFTER), "--apply")
        project.add([*ROWS[HALF:], LAST])
        project.run(CONF | {PARTITIONS_KEY: str(AFTER)})

        for flow in flows.values():
            checkpoint = keyfold.open_checkpoint(flow.checkpoint)
            assert checkpoint.fsck(deep=True).findings == (), flow.name
            assert checkpoint.batches()["partitions"].to_pylist()[-1] == AFTER
        for name, rows in EXPECTED.items():
            assert sorted(project.table(name)) == sorted(rows), name
        # Which of several rows with one id is kept is open.
        for name in ("dedup", "dedup_within"):
            assert sorted(it[0] for it in project.table(name)) == [-1, *range(IDS)], name
        assert len(project.table("first")) == HALF + 1
