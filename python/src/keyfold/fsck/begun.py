"""Finds a batch that was begun and cannot go on: Spark starts with the newest that was begun."""

from __future__ import annotations

from keyfold.fsck.finding import Finding, Kind, Severity
from keyfold.fsck.obstacle import Obstacle
from keyfold.fsck.operators import store_files
from keyfold.fsck.spark_logs import Logs
from keyfold.spark_log.batch import Batch
from keyfold.spark_log.logs import Commit, operators
from keyfold.storage.storage import Storage


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


def begun(logs: Logs, resumed: Batch | None) -> Obstacle | None:
    """What is wrong with the newest batch that was begun; None if nothing is.

    Args:
        logs: those of the checkpoint.
        resumed: as `uncommitted` says.
    """
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


def _has_ids(storage: Storage, logs: Logs) -> bool:
    """Whether the checkpoint has format 2: the last commit says it, or else names of files do."""
    if logs.committed:
        return bool(logs.committed[-1].commit.ids)
    return any(name.id for it in operators(storage) for _, name in store_files(storage, it))
