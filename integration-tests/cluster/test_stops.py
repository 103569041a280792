"""A query of Python's transformWithState that is stopped in the middle of reading its state.

Spark ends the thread that serves the state to Python without waiting for it.
"""

import json
import os
from contextlib import closing
from pathlib import Path

import pytest

from kit.submit import Spark

STOPS = int(os.environ.get("KEYFOLD_STOPS", "9"))
SEED = int(os.environ.get("KEYFOLD_SEED", "1"))
FILLED = 1000
FAR, DAY_MS = 4_000_000_000_000, 24 * 60 * 60 * 1000


@pytest.mark.timeout(300 + 20 * STOPS)
def test_stops_within_reads_of_lists_maps_and_timers_leave_the_jvm_and_the_state_as_they_were(
    tmp_path: Path,
) -> None:
    with closing(Spark(tmp_path, master="local[2]")) as spark:
        program = spark.start(
            "cluster/stops_job.py",
            tmp_path,
            Path(str(STOPS)),
            Path(str(SEED)),
            conf={"spark.sql.shuffle.partitions": 1},
        )
        code = program.wait(240 + 20 * STOPS)
    assert code == 0, f"seed {SEED}: ended with {code}. {program.end_of_log}"
    assert (tmp_path / "survived").read_text() == str(STOPS)
    answers = max((tmp_path / "answers").iterdir()).read_text().splitlines()
    assert [json.loads(line)["key"] for line in answers] == [1, 2]
    for line in answers:
        answer = json.loads(line)
        assert json.loads(answer["list"]) == list(range(FILLED))
        assert json.loads(answer["map"]) == [[n, n] for n in range(FILLED)]
        assert json.loads(answer["timers"]) == [FAR + n * DAY_MS for n in range(100)]
