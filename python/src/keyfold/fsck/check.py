"""Checks all files that the retained batches of a checkpoint need."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain as joined
from typing import TYPE_CHECKING

from keyfold.errors import PartitionsMismatchError
from keyfold.format.names import StoreLocation
from keyfold.fsck.finding import Finding, Kind, Obstacle, Severity
from keyfold.fsck.operators import Operators
from keyfold.fsck.plans import Plans
from keyfold.fsck.report import FsckReport, verdict
from keyfold.fsck.rows import RowCheck
from keyfold.fsck.runner import Progress, run_here, run_on_spark
from keyfold.fsck.spark_logs import read_logs, startable, undoable_migration
from keyfold.fsck.start import in_logs, uncommitted
from keyfold.fsck.store import StoreCheck
from keyfold.fsck.tree import Tree
from keyfold.spark_log.batch import Batch, settled
from keyfold.spark_log.logs import OperatorMetadata, batches
from keyfold.spark_log.migrated import earlier_batches
from keyfold.state.walk import Walk, folders
from keyfold.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def fsck(
    storage: Storage,
    *,
    deep: bool,
    progress: Progress | None = None,
    spark: SparkSession | None = None,
) -> FsckReport:
    """Checks a checkpoint. Damage is reported, not raised.

    The query may be running: a file that its retention has deleted meanwhile is not reported as
    missing.

    Raises:
        StorageError: the storage cannot be reached.
    """
    return settled(
        storage, lambda: _fsck(storage, deep, progress, spark), lambda report: not report.findings
    )


def _fsck(
    storage: Storage,
    deep: bool,  # noqa: FBT001
    progress: Progress | None,
    spark: SparkSession | None,
) -> FsckReport:
    logs, findings = read_logs(storage)
    resumed = uncommitted(storage, logs)
    committed = logs.own + ([resumed] if resumed else [])
    operators, plans = Operators(storage, committed), Plans(storage)
    unfinished = plans.unfinished(logs)
    obstacles = [*operators.obstacles, *in_logs(storage, logs, resumed)]
    obstacles += [unfinished] if unfinished else []
    findings += [*operators.findings, *plans.findings]
    findings += [it.finding for it in obstacles if it.finding is not None]
    described = operators.described
    checks: list[StoreCheck] = []
    partitions: dict[int, int] = {}
    # A batch that was begun may have files already, the first one in partitions of its own.
    last_committed = committed[-1].number if committed else -1
    running = [it for number, it in logs.offsets.items() if number > last_committed]
    for operator in described:
        locations, unseen = _locations(storage, operator, committed)
        findings += unseen
        known = 1 + max((it.partition for it, _ in locations), default=0)
        begun_with = (it.shuffle_partitions or operator.partitions for it in running)
        partitions[operator.id] = max([known, *begun_with])
        for location, store in locations:
            batches_of = [it for it in committed if location.partition < it.partitions(operator)]
            rows = RowCheck(storage, operator, store) if deep else None
            if batches_of:
                checks.append(StoreCheck(storage, operator, store, location, batches_of, rows))
    found = run_here(checks, progress) if spark is None else run_on_spark(checks, progress, spark)
    findings += joined.from_iterable(it.findings for it in found)
    earlier = earlier_batches(storage)
    # Listed after the state, so that it has each batch whose files are there.
    storage.listing("offsets", anew=True)
    # A batch is in both logs, unless one is damaged.
    started = max((*batches(storage, "offsets"), *batches(storage, "commits")), default=-1)
    numbers, unstartable = startable(storage, logs)
    lost = {number for it in found for number in it.bad}
    last = resumed.number if resumed else max(numbers, default=None)
    if last is not None and (last in lost or not (resumed or logs.can_begin)):
        stopping = {it.kind for it in findings if it.severity is Severity.STOPS}
        if stopping == {Kind.NEWER_FORMAT}:
            reason = f"a newer release of Keyfold wrote batch {last}, the last"
            obstacle = Obstacle(reason, last, otherwise="use that release")
        else:
            obstacle = Obstacle(f"batch {last}, the last, is damaged", last)
        obstacles = [obstacle, *obstacles]
    if committed or described:
        findings += Tree(storage, described, partitions, started + 1, earlier).strays()
    reported = sorted((it for it in set(findings) if not plans.may_need(it)), key=_rank)
    return FsckReport(
        storage.root,
        deep,
        len(committed),
        sum(it.files for it in found),
        sum(it.bytes for it in found),
        tuple(replace(it, path=storage.full_path(it.path)) for it in reported),
        verdict(
            storage,
            last,
            batches=numbers,
            bad=lost | unstartable,
            obstacles=obstacles,
            migrated=undoable_migration(logs),
            has_state=bool(described),
        ),
        earlier,
    )


def _rank(it: Finding) -> tuple[int, str, str, str]:
    return list(Severity).index(it.severity), it.kind.value, it.path, it.message


def _locations(
    storage: Storage, operator: OperatorMetadata, committed: list[Batch]
) -> tuple[list[tuple[StoreLocation, int]], list[Finding]]:
    """Every store of every partition in any of the batches, with its number in the operator.

    If a number of partitions cannot be this query's, a finding says so, and partitions that have no
    folder are not in the result.
    """
    findings: list[Finding] = []
    most = 0
    # The newest batch of each number of partitions.
    for said, batch in {it.partitions(operator): it for it in committed}.items():
        try:
            count = Walk(storage, batch).partitions(operator)
        except PartitionsMismatchError as error:
            path = f"offsets/{batch.number}"
            findings.append(Finding(Kind.DAMAGED, path, str(error.args[0]), Severity.LOSES))
            count = min(said, folders(storage, operator))
        most = max(most, count)
    locations = [
        (StoreLocation(operator.id, partition, store.name), index)
        for index, store in enumerate(operator.stores)
        for partition in range(most)
    ]
    return locations, findings
