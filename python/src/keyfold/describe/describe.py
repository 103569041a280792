"""Makes a description from the heads of a checkpoint's stores; reads no blocks."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from keyfold.describe.description import Description
from keyfold.describe.values import (
    FamilyDescription,
    OperatorDescription,
    Problem,
    StoreDescription,
)
from keyfold.errors import KeyfoldError, KeyGroupsMismatchError
from keyfold.format.footer import Family, total
from keyfold.format.names import FileKind
from keyfold.spark_log.batch import Batch, settled
from keyfold.spark_log.logs import operators, read_operator
from keyfold.spark_log.migrated import earlier_batches
from keyfold.spark_log.progress import Progress, oldest_offsets, read_progress
from keyfold.state.walk import Part, Walk
from keyfold.storage.storage import Storage


def describe(storage: Storage, query: str | None) -> Description:
    """Describes a checkpoint. Files that cannot be read become problems, not exceptions.

    The query may be running: if a file is missing and a newer batch has been committed, everything
    is read again.

    Raises:
        StorageError: the storage cannot be reached.
    """
    return settled(storage, lambda: _describe(storage, query), lambda it: not it.problems)


def _describe(storage: Storage, query: str | None) -> Description:
    progress = read_progress(storage)
    problems: list[Problem] = []

    def add(path: str, error: KeyfoldError) -> None:
        full = storage.full_path(path)
        problems.append(Problem(full, error.condition, str(error.args[0])))

    for error in progress.problems:
        add("", error)
    described = [_operator(storage, number, progress, add) for number in operators(storage)]
    offsets, oldest = progress.offsets, oldest_offsets(storage)
    return Description(
        path=storage.root,
        query_id=query,
        provider=progress.provider,
        last_batch=progress.last_batch,
        last_batch_ms=offsets.timestamp_ms if offsets and progress.commit else None,
        oldest_batch=oldest.batch if oldest else None,
        oldest_batch_ms=oldest.timestamp_ms if oldest else None,
        earlier_batches=earlier_batches(storage),
        operators=tuple(operator for operator in described if operator is not None),
        problems=tuple(problems),
    )


def _operator(
    storage: Storage, number: int, progress: Progress, add: Callable[[str, KeyfoldError], None]
) -> OperatorDescription | None:
    """An operator; None if Spark's description of it cannot be read. Problems are added."""
    try:
        metadata = read_operator(storage, number, progress.last_batch)
    except KeyfoldError as error:
        add(f"state/{number}/_metadata", error)
        return None
    offsets = progress.offsets
    batch = Batch(progress.commit, offsets) if progress.commit else None
    by_store = Walk(storage, batch).parts(metadata) if batch else [[] for _ in metadata.stores]
    parts = [part for store in by_store for part in store]
    for part in parts:
        if part.error is not None:
            add(part.location.folder, part.error)
    key_groups = [part.head.identity.key_groups for part in parts if part.head is not None]
    if len(set(key_groups)) > 1:
        message = (
            f"The partitions of operator {number} have different numbers of key groups: "
            f"{', '.join(map(str, sorted(set(key_groups))))}. Some were copied here from another "
            "checkpoint."
        )
        add(f"state/{number}", KeyGroupsMismatchError(message))
    versions = storage.side_by_side(lambda it: it.files.loadable(it.version, it.head), parts)
    begun_with = offsets.shuffle_partitions if offsets else None
    loadable = reduce(_common, versions) if versions else []
    return OperatorDescription(
        id=metadata.id,
        name=metadata.name,
        partitions=max(map(len, by_store)) or begun_with or metadata.partitions,
        key_groups=key_groups[0] if key_groups else None,
        latest_version=batch.version if batch else None,
        oldest_loadable_version=loadable[0].start if loadable else None,
        newest_loadable_version=loadable[-1].stop - 1 if loadable else None,
        stores=tuple(
            _store(it.name, store) for it, store in zip(metadata.stores, by_store, strict=True)
        ),
    )


def _common(some: list[range], others: list[range]) -> list[range]:
    """What two ascending lists of ranges both have."""
    shared = []
    left, right = iter(some), iter(others)
    one, other = next(left, None), next(right, None)
    while one is not None and other is not None:
        both = range(max(one.start, other.start), min(one.stop, other.stop))
        if both:
            shared.append(both)
        if one.stop < other.stop:
            one = next(left, None)
        else:
            other = next(right, None)
    return shared


def _store(name: str, parts: list[Part]) -> StoreDescription:
    heads = [part.head for part in parts if part.head is not None]
    rows = [head.rows for head in heads]
    known = [number for number in rows if number is not None]
    all_known = len(known) == len(rows)
    families: dict[str, list[Family]] = {}
    for head in heads:
        for family in head.families:
            families.setdefault(family.name, []).append(family)
    return StoreDescription(
        name=name,
        rows=total(rows),
        min_partition_rows=min(known, default=0) if all_known else None,
        max_partition_rows=max(known, default=0) if all_known else None,
        live_bytes=total(head.bytes for head in heads),
        disk_bytes=sum(sum(part.files.sizes.values()) for part in parts),
        deltas=sum(part.files.count(FileKind.DELTA) for part in parts),
        merged_deltas=sum(part.files.count(FileKind.MERGED) for part in parts),
        snapshots=sum(part.files.count(FileKind.SNAPSHOT) for part in parts),
        references=sum(part.files.count(FileKind.REFERENCE) for part in parts),
        families=tuple(
            FamilyDescription(
                name=family,
                internal=same[0].internal,
                strays=any(it.strays for it in same),
                rows=total(it.keys for it in same),
                values=total(it.values for it in same),
                live_bytes=total(it.bytes for it in same),
            )
            for family, same in families.items()
        ),
    )
