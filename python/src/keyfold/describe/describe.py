"""Makes a description from the heads of a checkpoint's stores; reads no blocks."""

from __future__ import annotations

from functools import reduce

from keyfold.describe.description import Description
from keyfold.describe.values import (
    FamilyDescription,
    OperatorDescription,
    Problem,
    StoreDescription,
)
from keyfold.errors import KeyfoldError, KeyGroupsMismatchError
from keyfold.format.footer import Family, Identity, total
from keyfold.format.names import FileKind
from keyfold.spark_log.batch import Batch, partition_count
from keyfold.spark_log.logs import operators, read_operator
from keyfold.spark_log.migrated import earlier_batches
from keyfold.spark_log.progress import Progress, oldest_offsets, read_progress
from keyfold.state.walk import Part, Walk
from keyfold.storage.storage import Storage


class _Reader:
    """Reads a checkpoint at one committed batch."""

    def __init__(self, storage: Storage, progress: Progress) -> None:
        self._storage = storage
        self._progress = progress
        self.problems: list[Problem] = []

    def operator(self, number: int) -> OperatorDescription | None:
        """An operator; None if Spark's description of it cannot be read."""
        commit, offsets = self._progress.commit, self._progress.offsets
        try:
            metadata = read_operator(self._storage, number, self._progress.last_batch)
        except KeyfoldError as error:
            self.problem(f"state/{number}/_metadata", error)
            return None
        if commit is None:
            partitions = partition_count(metadata, offsets)
            stores = tuple(_store(it.name, []) for it in metadata.stores)
            return OperatorDescription(
                metadata.id, metadata.name, partitions, None, None, None, None, stores
            )
        batch = Batch(commit, offsets)
        by_store = Walk(self._storage, batch).parts(metadata)
        parts = [part for store in by_store for part in store]
        for part in parts:
            if part.error is not None:
                self.problem(part.place.folder, part.error)
        heads = [part.head.identity for part in parts if part.head is not None]
        self._check_key_groups(number, heads)
        versions = self._storage.side_by_side(
            lambda it: it.files.loadable(it.version, it.head), parts
        )
        loadable = reduce(_common, versions)
        return OperatorDescription(
            id=metadata.id,
            name=metadata.name,
            partitions=max(len(store) for store in by_store),
            key_groups=heads[0].key_groups if heads else None,
            latest_version=batch.version,
            oldest_loadable_version=loadable[0].start if loadable else None,
            newest_loadable_version=loadable[-1].stop - 1 if loadable else None,
            stores=tuple(
                _store(it.name, store) for it, store in zip(metadata.stores, by_store, strict=True)
            ),
        )

    def problem(self, path: str, error: KeyfoldError) -> None:
        """Adds a problem."""
        full = self._storage.full_path(path)
        self.problems.append(Problem(full, error.condition, str(error.args[0])))

    def _check_key_groups(self, number: int, heads: list[Identity]) -> None:
        found = sorted({head.key_groups for head in heads})
        if len(found) > 1:
            error = KeyGroupsMismatchError(
                f"The partitions of operator {number} have different numbers of key groups: "
                f"{', '.join(map(str, found))}. Some were copied here from another checkpoint."
            )
            self.problem(f"state/{number}", error)


def _common(some: list[range], others: list[range]) -> list[range]:
    """What two ascending lists of ranges both have."""
    found = []
    left, right = iter(some), iter(others)
    one, other = next(left, None), next(right, None)
    while one is not None and other is not None:
        both = range(max(one.start, other.start), min(one.stop, other.stop))
        if both:
            found.append(both)
        if one.stop < other.stop:
            one = next(left, None)
        else:
            other = next(right, None)
    return found


def describe(storage: Storage, query: str | None) -> Description:
    """Describes a checkpoint. Files that cannot be read become problems, not exceptions.

    The query may be running: if a file is missing and a newer batch has been committed, everything
    is read again.

    Raises:
        StorageError: the storage cannot be reached.
    """
    progress = read_progress(storage)
    found = _describe(storage, query, progress)
    if found.problems:
        storage.forget()
        later = read_progress(storage)
        if later.last_batch != progress.last_batch:
            found = _describe(storage, query, later)
    return found


def _describe(storage: Storage, query: str | None, progress: Progress) -> Description:
    reader = _Reader(storage, progress)
    for error in progress.problems:
        reader.problem("", error)
    described = [reader.operator(number) for number in operators(storage)]
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
        problems=tuple(reader.problems),
    )


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
        snapshots=sum(part.files.count(FileKind.SNAPSHOT) for part in parts),
        references=sum(part.files.count(FileKind.REFERENCE) for part in parts),
        families=tuple(
            FamilyDescription(
                name=family,
                internal=found[0].internal,
                strays=any(it.strays for it in found),
                rows=total(it.keys for it in found),
                values=total(it.values for it in found),
                live_bytes=total(it.bytes for it in found),
            )
            for family, found in families.items()
        ),
    )
