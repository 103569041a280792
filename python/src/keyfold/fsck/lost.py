"""Finds files of Spark's that are lost, without which no query starts."""

from __future__ import annotations

from keyfold.errors import CheckpointDamagedError, FileMissingError
from keyfold.fsck.finding import Finding, Kind, Severity
from keyfold.fsck.obstacle import Obstacle
from keyfold.fsck.spark_logs import Logs
from keyfold.spark_log.logs import operators, query_id
from keyfold.storage.storage import Storage

_ID = "metadata"
# Without it, Spark before 4.2 writes a new id.
_VERIFIES = "spark.sql.streaming.checkpoint.verifyMetadataExists.enabled=false"


def lost_id(storage: Storage) -> Obstacle | None:
    """What is wrong with the file that has the query's id; None if nothing is."""
    deletes: tuple[str, ...] = ()
    try:
        query_id(storage)
    except FileMissingError:
        reason, why = "is lost", ""
    except CheckpointDamagedError as error:
        reason, why, deletes = "is damaged", f" {error.args[0]}", (_ID,)
    else:
        return None
    reason = f"the file with the query's id {reason}"
    message = (
        f"{reason}.{why} Restore it from a copy. With a new id, sinks that go by it, such as Delta "
        "Lake's, do not know the query's batches any more."
    )
    finding = Finding(Kind.DAMAGED, _ID, message, Severity.STOPS)
    return Obstacle(reason, finding=finding, deletes=deletes, sets=_VERIFIES)


def lost_logs(storage: Storage, logs: Logs) -> Obstacle | None:
    """Whether there is state and no batch: Spark writes a batch's offsets before its state."""
    if max(logs.newest, logs.last) >= 0 or not operators(storage):
        return None
    reason = "the checkpoint has state, and its offset log and commit log have no batch"
    message = (
        f"{reason}: they are lost. Spark starts no query beside state of earlier batches. Restore "
        "them from a copy."
    )
    finding = Finding(Kind.DAMAGED, "offsets", message, Severity.STOPS)
    return Obstacle(reason, -1, finding)
