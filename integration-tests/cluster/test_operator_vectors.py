"""Flink's published walk-throughs of operator state, as one query on two executors."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

import keyfold
from kit.submit import Spark

VECTORS = json.loads((Path(__file__).parent / "vectors" / "operator_state.json").read_text())
Rows = dict[str, list[tuple[int, Any]]]
JOB = "cluster/operator_state_job.py"
INPUTS = ("counted", "collected", "bound", "rules")


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_lists_and_rules_are_those_published_by_drivers_that_are_killed(
    spark: Spark, tmp_path: Path
) -> None:
    split, union, broadcast = (VECTORS[it] for it in ("split_list", "union_list", "broadcast"))
    counted = split["records"]
    for name in INPUTS:
        (tmp_path / name).mkdir()

    add(tmp_path, "counted", counted)
    add(tmp_path, "collected", [it["in"] for it in union["parallelism_2"]])
    add(tmp_path, "bound", [["any", 1.0]] * 2)
    rule = dict(zip(("id", "rule"), broadcast["rule"], strict=True))
    (tmp_path / "rules/0.json").write_text(json.dumps(rule))
    killed_and_run(spark, tmp_path, 0, (2, 2, 2))
    assert rows_of(tmp_path, 0) == {
        "counted": ordered(split["parallelism_2"]),
        "collected": lists(union["parallelism_2"]),
        "bound": rules(broadcast["parallelism_2"]),
    }

    # By a start with another parallelism.
    add(tmp_path, "counted", counted)
    add(tmp_path, "collected", [it["in"] for it in union["then_rescaled_to_3"]])
    add(tmp_path, "bound", [["any", 1.0]] * 4)
    killed_and_run(spark, tmp_path, 1, (3, 3, 4))
    assert rows_of(tmp_path, 1) == {
        "counted": ordered(split["then_rescaled_to_3"]),
        "collected": lists(union["then_rescaled_to_3"]),
        "bound": rules(broadcast["then_rescaled_to_4"]),
    }

    # By the command, of one of them.
    checkpoint = tmp_path / "checkpoint"
    assert keyfold.redistribute(checkpoint, "RuleBinding", 1, dry_run=False).applied
    add(tmp_path, "bound", [["any", 1.0]])
    killed_and_run(spark, tmp_path, 2, (3, 3, 1))
    assert rows_of(tmp_path, 2) == {"bound": rules(broadcast["then_rescaled_to_1"])}
    assert keyfold.open_checkpoint(checkpoint).describe().problems == ()


def killed_and_run(
    spark: Spark, folder: Path, batch: int, parallelisms: tuple[int, int, int]
) -> None:
    """The driver is killed between the batch's output and its commit; then it runs to its end."""
    arguments = (str(folder), *map(str, parallelisms))
    (folder / "hold").touch()
    driver = spark.start(JOB, *arguments)
    driver.wait_until((folder / f"out/{batch}/_SUCCESS").exists, f"the output of batch {batch}")
    driver.kill()
    assert driver.wait() == -signal.SIGKILL
    (folder / "hold").unlink()
    commits = {it.name for it in (folder / "checkpoint/commits").glob("[0-9]*")}
    assert commits == {str(it) for it in range(batch)}
    spark.run(JOB, *arguments)
    assert (folder / f"checkpoint/commits/{batch}").exists()


def add(folder: Path, name: str, records: list[Any]) -> None:
    text = "\n".join(json.dumps({"device": device, "v": v}) for device, v in records)
    number = len(list((folder / name).iterdir()))
    (folder / name / f"{number}.json").write_text(text)


def ordered(rows: list[list[Any]]) -> list[tuple[int, Any]]:
    return sorted((subtask, count) for subtask, count in rows)


def lists(rows: list[dict[str, Any]]) -> list[tuple[int, Any]]:
    return sorted((it["subtask"], it["list"]) for it in rows)


def rules(rows: list[dict[str, Any]]) -> list[tuple[int, Any]]:
    return sorted((it["subtask"], it["rules"]) for it in rows)


def rows_of(folder: Path, batch: int) -> Rows:
    """Subtask and what it said, by operator."""
    found: Rows = {}
    for part in (folder / f"out/{batch}").glob("part-*"):
        for line in part.read_text().splitlines():
            it = json.loads(line)
            found.setdefault(it["operator"], []).append((it["subtask"], json.loads(it["line"])))
    return {name: sorted(rows) for name, rows in found.items()}
