"""What keeps a query from starting, in Spark's logs and in the file with the query's id."""

from __future__ import annotations

from keyfold.errors import CheckpointDamagedError, FileMissingError
from keyfold.fsck.finding import Finding, Kind, Obstacle, Severity
from keyfold.fsck.operators import store_files
from keyfold.fsck.spark_logs import Logs
from keyfold.spark_log.batch import Batch
from keyfold.spark_log.logs import Commit, operators, query_id
from keyfold.storage.storage import Storage

_ID = "metadata"
# Without it, Spark before 4.2 writes a new id.
_VERIFIES = "spark.sql.streaming.checkpoint.verifyMetadataExists.enabled=false"


def uncommitted(storage: Storage, logs: Logs) -> Batch | None:
    """The batch that Spark takes for the last one although its commit is lost; None if none is.

    It begins the newest batch again, from the state of the one before. Without ids it finds that
    state.
    """
    offsets = logs.offsets.get(logs.newest - 1)
    if logs.newest <= logs.last + 1 or offsets is None or logs.newest not in logs.offsets:
        return None
    if _has_ids(storage, logs):
        return None
    return Batch(Commit(logs.newest - 1, {}), offsets) if offsets.is_keyfolds else None


def _has_ids(storage: Storage, logs: Logs) -> bool:
    """Whether the checkpoint has format 2: the last commit says it, or else names of files do."""
    if logs.committed:
        return bool(logs.committed[-1].commit.ids)
    return any(name.id for it in operators(storage) for _, name in store_files(storage, it))


def in_logs(storage: Storage, logs: Logs, resumed: Batch | None) -> list[Obstacle]:
    """What is in the way; `resumed` is as `uncommitted` says."""
    obstacles = (_lost_id(storage), _lost_logs(storage, logs), _begun(logs, resumed))
    return [it for it in obstacles if it is not None]


def _lost_id(storage: Storage) -> Obstacle | None:
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


def _lost_logs(storage: Storage, logs: Logs) -> Obstacle | None:
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


def _begun(logs: Logs, resumed: Batch | None) -> Obstacle | None:
    """What is wrong with the newest batch that was begun: Spark starts with it."""
    newest, last = logs.newest, logs.last
    if newest <= last:
        return None
    if newest not in logs.offsets:
        reason = f"batch {newest} was begun, and its entry in the offset log is damaged"
        return Obstacle(reason, last)
    if newest > last + 1 and resumed is None:
        lost = f"batch {last + 1}" if newest == last + 2 else f"batches {last + 1} to {newest - 1}"
        reason = f"batch {newest} was begun, and the commit log does not have {lost} before it"
        message = (
            f"{reason}. Without these Spark does not know which files have their state. Restore "
            "them from a copy."
        )
        return Obstacle(reason, last, Finding(Kind.DAMAGED, "commits", message, Severity.STOPS))
    before = logs.offsets.get(newest - 1)
    now, then = logs.offsets[newest].shuffle_partitions, before and before.shuffle_partitions
    if not then or not now or now == then:
        return None
    reason = (
        f"a rescale from {then} to {now} partitions was begun as batch {newest}, and not finished"
    )
    message = f"{reason}, or its commit is lost."
    finding = Finding(Kind.UNFINISHED, f"offsets/{newest}", message, Severity.STOPS)
    if resumed is not None:
        return Obstacle(reason, last, finding)
    return Obstacle(reason, last, finding, otherwise=f"rescale to {now} partitions again")
