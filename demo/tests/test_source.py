"""Topics of Kafka: each row is sent once, and a stage has as many batches as with files."""

from math import ceil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from demo.source import PARTITIONS, Topics, most_records
from demo.stages import STAGES
from demo.workspace import FLIGHTS, INPUTS, Workspace


def test_each_row_is_sent_once_also_if_a_stage_is_delivered_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(tmp_path)
    for name in INPUTS:
        workspace.waiting(name).mkdir(parents=True)
        for day in range(200):
            file = workspace.waiting(name) / f"{day:03}.csv"
            file.write_text(f"header\n{name} {day}\n{name} {day} again\n", encoding="utf-8")
    sent: dict[str, list[str]] = {name: [] for name in INPUTS}

    def send(_topics: Topics, _spark: SparkSession, topic: str, rows: list[str]) -> None:
        sent[topic] += rows

    monkeypatch.setattr(Topics, "_send", send)
    spark = SparkSession.__new__(SparkSession)
    for stage, days in ((STAGES[0], 122), (STAGES[0], 122), (STAGES[1], 200)):
        # A driver that takes the place of a killed one knows nothing of what that one has sent.
        Topics(workspace, "nowhere").deliver(spark, stage)
        for name in INPUTS:
            assert sent[name] == [
                row for day in range(days) for row in (f"{name} {day}", f"{name} {day} again")
            ]
    assert len(list(workspace.input(FLIGHTS).iterdir())) == 200


@pytest.mark.parametrize("rows", [1000, 1153, 1262])
@pytest.mark.parametrize("files", [1, 121, 122])
@pytest.mark.parametrize("files_per_batch", [20, 40, 45, 61])
def test_a_stage_has_as_many_batches_as_with_files(
    rows: int, files: int, files_per_batch: int
) -> None:
    most = most_records([rows] * files, files_per_batch)
    left = [len(range(rows * files)[it::PARTITIONS]) for it in range(PARTITIONS)]
    batches = []
    while any(left):
        # As Spark does it: to each partition by what is left of it, rounded down.
        all_left = sum(left)
        taken = left if all_left <= most else [most * it // all_left for it in left]
        left = [it - took for it, took in zip(left, taken, strict=True)]
        batches.append(sum(taken))
    assert len(batches) == ceil(files / files_per_batch)
    assert max(batches) - min(batches) <= len(batches) * (PARTITIONS + 1)
