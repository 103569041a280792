"""Finds damage to the file that has the query's id."""

from __future__ import annotations

from keyfold.errors import CheckpointDamagedError, FileMissingError
from keyfold.fsck.finding import Finding, Kind, Severity
from keyfold.fsck.obstacle import Obstacle
from keyfold.spark_log.logs import query_id
from keyfold.storage.storage import Storage

# Without it, Spark before 4.2 writes a new id.
_VERIFIES = "spark.sql.streaming.checkpoint.verifyMetadataExists.enabled=false"


def lost_id(storage: Storage) -> tuple[Obstacle, list[Finding]] | None:
    """What is wrong with it; None if nothing is."""
    path = storage.full_path("metadata")
    deletes: tuple[str, ...] = ()
    try:
        query_id(storage)
    except FileMissingError:
        reason, why, kind = "is lost", "", Kind.MISSING
    except CheckpointDamagedError as error:
        reason, why, kind, deletes = "is damaged", f" {error.args[0]}", Kind.METADATA, (path,)
    else:
        return None
    reason = f"the file with the query's id {reason}"
    message = (
        f"{reason}.{why} Restore it from a copy. With a new id, sinks that go by it, such as Delta "
        "Lake's, do not know the query's batches any more."
    )
    found = [Finding(kind, path, message, Severity.STOPS)]
    return Obstacle(reason, deletes=deletes, sets=_VERIFIES), found
