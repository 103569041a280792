"""The attempts at tasks that keep state, from Spark's event log."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STATE_RDD = "StateStoreRDD"


@dataclass(frozen=True)
class Attempt:
    """An attempt at one partition of one batch. `end` is Spark's name for how it ended.

    It is None if the application ended first, as an attempt that Spark kills may take its time.
    """

    batch: int
    partition: int
    number: int
    host: str
    speculative: bool
    end: str | None


def state_attempts(event_log: Path) -> list[Attempt]:
    """All attempts, in the order of their start."""
    events = [json.loads(line) for line in event_log.read_text().splitlines()]
    ends = {
        event["Task Info"]["Task ID"]: event["Task End Reason"]["Reason"]
        for event in events
        if event["Event"] == "SparkListenerTaskEnd"
    }
    batches: dict[int, int] = {}
    attempts = []
    for event in events:
        if event["Event"] == "SparkListenerStageSubmitted":
            stage = event["Stage Info"]
            if any(rdd["Name"] == STATE_RDD for rdd in stage["RDD Info"]):
                batches[stage["Stage ID"]] = int(event["Properties"]["streaming.sql.batchId"])
        elif event["Event"] == "SparkListenerTaskStart" and event["Stage ID"] in batches:
            task = event["Task Info"]
            attempts.append(_attempt(task, batches[event["Stage ID"]], ends.get(task["Task ID"])))
    return attempts


def _attempt(task: dict[str, Any], batch: int, end: str | None) -> Attempt:
    return Attempt(
        batch=batch,
        partition=task["Partition ID"],
        number=task["Attempt"],
        host=task["Host"],
        speculative=task["Speculative"],
        end=end,
    )
