"""Checks all files that the retained batches of a checkpoint need."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import chain as joined
from typing import TYPE_CHECKING

from keyfold.errors import KeyfoldError
from keyfold.format.place import StorePlace
from keyfold.fsck.finding import Finding, FsckReport, Severity
from keyfold.fsck.open_plans import may_need, newest_version
from keyfold.fsck.runner import Progress, run_here, run_on_spark
from keyfold.fsck.spark_logs import (
    committed_batches,
    damaged_begin,
    startable,
    unreadable,
    with_severity,
)
from keyfold.fsck.store import StoreCheck
from keyfold.fsck.tree import strays
from keyfold.fsck.verdict import verdict
from keyfold.schema.state_schema import read_state_schema, schema_paths
from keyfold.spark_log.batch import Batch, partition_count
from keyfold.spark_log.logs import (
    Offsets,
    OperatorMetadata,
    batches,
    operators,
    read_offsets,
    read_operator,
)
from keyfold.spark_log.migrated import earlier_batches
from keyfold.state.walk import THREADS, Walk
from keyfold.storage.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["FsckReport", "Progress", "fsck"]


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
    first = _oldest(storage)
    report = _fsck(storage, deep, progress, spark)
    storage.forget()
    if report.findings and _oldest(storage) != first:
        report = _fsck(storage, deep, progress, spark)
    return report


def _oldest(storage: Storage) -> tuple[int | None, int | None]:
    found = batches(storage, "commits")
    return min(found, default=None), max(found, default=None)


def _fsck(
    storage: Storage,
    deep: bool,  # noqa: FBT001
    progress: Progress | None,
    spark: SparkSession | None,
) -> FsckReport:
    findings: list[Finding] = []
    readable = list(committed_batches(storage, findings))
    numbers, unstartable = startable(storage, readable)
    begun = damaged_begin(storage, numbers)
    findings = [with_severity(storage, it, numbers, begun) for it in findings]
    committed = [it for it in readable if it.offsets is None or it.offsets.is_keyfolds]
    logged = len(findings)
    described = list(_operators(storage, committed, findings))
    findings[logged:] = [replace(it, severity=Severity.STOPS) for it in findings[logged:]]
    # Going back to an earlier batch mends neither the query's id nor the operators.
    stopped = len(findings) > logged or storage.full_path("metadata") in {
        it.path for it in findings
    }
    checks: list[StoreCheck] = []
    partitions: dict[int, int] = {}
    running = _running(storage, committed)
    with ThreadPoolExecutor(THREADS) as pool:
        for operator in described:
            places = _places(storage, operator, committed, pool)
            known = 1 + max((it.partition for it, _ in places), default=0)
            partitions[operator.id] = max(
                [known, *(partition_count(operator, it) for it in running)]
            )
            checks += [
                StoreCheck(storage, operator, store, place, committed, deep=deep)
                for place, store in places
            ]
    found = run_here(checks, progress) if spark is None else run_on_spark(checks, progress, spark)
    findings += joined.from_iterable(it.findings for it in found)
    earlier = earlier_batches(storage)
    # Listed after the state, so that it has each batch whose files are there.
    storage.listing("offsets", anew=True)
    # A batch is in both logs, unless one is damaged.
    started = max((*batches(storage, "offsets"), *batches(storage, "commits")), default=-1)
    rescaled = newest_version(storage)
    bad = {number for it in found for number in it.bad}
    if committed or described:
        findings += strays(storage, described, partitions, started + 1, earlier)
    return FsckReport(
        storage.root,
        deep,
        len(committed),
        sum(it.files for it in found),
        sum(it.bytes for it in found),
        tuple(sorted((it for it in set(findings) if not may_need(it, rescaled)), key=_rank)),
        verdict(storage.root, numbers, bad | unstartable, stopped=stopped, begun=begun),
        earlier,
    )


def _running(storage: Storage, committed: list[Batch]) -> list[Offsets]:
    """Offsets of a batch that has begun and is not committed: all its files may be there already.

    The first one has them in partitions that no committed batch has.
    """
    last = committed[-1].number if committed else -1
    found = []
    for number in batches(storage, "offsets"):
        if number > last:
            with suppress(KeyfoldError):
                found.append(read_offsets(storage, number))
    return found


def _rank(it: Finding) -> tuple[int, str, str, str]:
    return list(Severity).index(it.severity), it.kind.value, it.path, it.message


def _operators(
    storage: Storage, committed: list[Batch], findings: list[Finding]
) -> Iterator[OperatorMetadata]:
    last = committed[-1].number if committed else None
    for number in operators(storage):
        try:
            operator = read_operator(storage, number, last)
        except KeyfoldError as error:
            if storage.listing(f"state/{number}/_metadata"):
                findings.append(unreadable(storage, f"state/{number}/_metadata", error))
            elif any(number in batch.commit.ids for batch in committed):
                findings.append(unreadable(storage, f"state/{number}", error))
            continue
        storage.fetch(it for store in operator.stores for it in schema_paths(number, store))
        for store in operator.stores:
            try:
                read_state_schema(storage, number, store)
            except KeyfoldError as error:
                place = StorePlace(number, 0, store.name).folder
                findings.append(unreadable(storage, f"{place}/_metadata/schema", error))
        yield operator


def _places(
    storage: Storage,
    operator: OperatorMetadata,
    committed: list[Batch],
    pool: ThreadPoolExecutor,
) -> list[tuple[StorePlace, int]]:
    """Every store of every partition in any of the batches, with its number in the operator."""
    most = 0
    seen: set[int] = set()
    for batch in reversed(committed):
        count = batch.partitions(operator)
        if count in seen:
            continue
        seen.add(count)
        most = max(most, Walk(storage, batch, pool).partitions(operator))
    return [
        (StorePlace(operator.id, partition, store.name), index)
        for index, store in enumerate(operator.stores)
        for partition in range(most)
    ]
