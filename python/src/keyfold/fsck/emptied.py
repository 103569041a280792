"""Finds a checkpoint that has state and no batch: both of Spark's logs were deleted."""

from __future__ import annotations

from keyfold.fsck.finding import Finding, Kind, Severity
from keyfold.fsck.obstacle import Obstacle
from keyfold.fsck.spark_logs import Logs
from keyfold.spark_log.logs import operators
from keyfold.storage.storage import Storage


def lost_logs(storage: Storage, logs: Logs) -> tuple[Obstacle, list[Finding]] | None:
    """None if there is a batch, or no state. Spark writes a batch's offsets before its state."""
    if max(logs.newest, logs.last) >= 0 or not operators(storage):
        return None
    reason = "the checkpoint has state, and its offset log and commit log have no batch"
    message = (
        f"{reason}: they are lost. Spark starts no query beside state of earlier batches. Restore "
        "them from a copy."
    )
    found = Finding(Kind.MISSING, storage.full_path("offsets"), message, Severity.STOPS)
    return Obstacle(reason, -1), [found]
