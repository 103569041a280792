"""Gathers a description from the heads of a checkpoint's stores; no block is read."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from keyfold.description import (
    Description,
    FamilyDescription,
    OperatorDescription,
    Problem,
    StoreDescription,
    total,
)
from keyfold.errors import (
    FileCorruptError,
    KeyfoldError,
    KeyGroupsMismatchError,
    PartitionsMismatchError,
)
from keyfold.footer import Family, Footer, Identity
from keyfold.names import Kind
from keyfold.progress import Progress, read_progress
from keyfold.spark_log import OperatorMetadata, operators, read_operator
from keyfold.storage import Storage
from keyfold.store_files import StoreFiles, list_store

# Object stores answer in tens of ms, so partitions are read side by side.
_THREADS = 16
_DEFAULT_STORE = "default"
_CONSTANT = "constant"


@dataclass(frozen=True)
class _Part:
    """One store of one partition: its files, and its head or why there is none."""

    path: str
    files: StoreFiles
    head: Footer | None
    loadable: frozenset[int]
    error: KeyfoldError | None


class _Reader:
    """Reads a checkpoint at one committed batch."""

    def __init__(self, storage: Storage, progress: Progress, pool: ThreadPoolExecutor) -> None:
        self._storage = storage
        self._progress = progress
        self._pool = pool
        self.problems: list[Problem] = []

    def operator(self, number: int) -> OperatorDescription | None:
        """An operator; None if Spark's description of it cannot be read."""
        batch = self._progress.last_batch
        try:
            metadata = read_operator(self._storage, number, batch)
        except KeyfoldError as error:
            self.problem(f"state/{number}/_metadata", error)
            return None
        partitions = self._partitions(metadata)
        if batch is None:
            stores = tuple(_store(it.name, []) for it in metadata.stores)
            return OperatorDescription(
                metadata.id, metadata.name, partitions, None, None, None, None, stores
            )
        # Partition 0 first: it tells whether the others exist.
        first = self._parts(metadata, range(1))
        if _only_partition_0(first):
            partitions = 1
        others = self._parts(metadata, range(1, partitions))
        by_store = [one + more for one, more in zip(first, others, strict=True)]
        parts = [part for store in by_store for part in store]
        for part in parts:
            if part.error is not None:
                self.problem(part.path, part.error)
        heads = [part.head.identity for part in parts if part.head is not None]
        self._check_key_groups(number, heads)
        loadable = frozenset.intersection(*(part.loadable for part in parts))
        return OperatorDescription(
            id=metadata.id,
            name=metadata.name,
            partitions=partitions,
            key_groups=heads[0].key_groups if heads else None,
            latest_version=batch + 1,
            oldest_loadable_version=min(loadable, default=None),
            newest_loadable_version=max(loadable, default=None),
            stores=tuple(
                _store(it.name, store) for it, store in zip(metadata.stores, by_store, strict=True)
            ),
        )

    def problem(self, path: str, error: KeyfoldError) -> None:
        """Notes what is wrong."""
        text = str(error.args[0]) if error.args else str(error)
        self.problems.append(Problem(self._storage.full_path(path), error.condition, text))

    def _check_key_groups(self, number: int, heads: list[Identity]) -> None:
        found = sorted({head.key_groups for head in heads})
        if len(found) > 1:
            error = KeyGroupsMismatchError(
                f"The partitions of operator {number} have different numbers of key groups: "
                f"{', '.join(map(str, found))}. Some were copied here from another checkpoint."
            )
            self.problem(f"state/{number}", error)

    def _partitions(self, metadata: OperatorMetadata) -> int:
        """Partitions of an operator.

        A rescale changes the offset log but not an operator's metadata of format v1, so the log
        wins, except over operators that Spark gives one partition whatever the query has.
        """
        said = max((store.partitions for store in metadata.stores), default=1)
        return said if said == 1 else self._progress.shuffle_partitions or said

    def _parts(self, metadata: OperatorMetadata, partitions: Sequence[int]) -> list[list[_Part]]:
        """Parts of each store, in the order of the partitions."""
        tasks = [
            [self._pool.submit(self._part, metadata, index, partition) for partition in partitions]
            for index in range(len(metadata.stores))
        ]
        return [[task.result() for task in store] for store in tasks]

    def _part(self, metadata: OperatorMetadata, index: int, partition: int) -> _Part:
        commit = self._progress.commit
        assert commit is not None  # noqa: S101 - callers have a committed batch
        store = metadata.stores[index].name
        folder = f"state/{metadata.id}/{partition}"
        folder = folder if store == _DEFAULT_STORE else f"{folder}/{store}"
        unique = commit.id_of(metadata.id, partition, index)
        version = commit.batch + 1
        error: KeyfoldError | None = None
        # Twice, as a running query may replace or remove the file after it was listed.
        for _ in range(2):
            files = list_store(self._storage, folder, version)
            try:
                head = files.head(version, unique)
                self._check_identity(head.identity, metadata.id, partition, store)
                return _Part(folder, files, head, files.loadable(version, head), None)
            except KeyfoldError as found:
                error = found
        return _Part(folder, files, None, files.loadable(version, None), error)

    def _check_identity(self, found: Identity, operator: int, partition: int, store: str) -> None:
        where = (operator, partition, store)
        if (found.operator, found.partition, found.store) != where:
            raise FileCorruptError(
                f"The head of version {found.version} in the folder of operator {operator} "
                f"partition {partition} store {store} says it is of operator {found.operator} "
                f"partition {found.partition} store {found.store}. Restore the folder from a copy."
            )
        partitions = self._progress.shuffle_partitions
        if partitions and found.partitions and found.partitions != partitions:
            raise PartitionsMismatchError(
                f"Version {found.version} of operator {operator} partition {partition} store "
                f"{store} was written for {found.partitions} partitions and the query has "
                f"{partitions}: a rescale is unfinished. Finish it before the query starts again."
            )


def describe(storage: Storage, query: str) -> Description:
    """Describes a checkpoint. What cannot be read becomes a problem; nothing is raised for it.

    A query may run meanwhile: if something was missing and newer batches have been committed since,
    all is read once more.

    Raises:
        StorageError: the storage cannot be reached.
    """
    progress = read_progress(storage)
    found = _describe(storage, query, progress)
    if found.problems:
        later = read_progress(storage)
        if later.last_batch != progress.last_batch:
            found = _describe(storage, query, later)
    return found


def _describe(storage: Storage, query: str, progress: Progress) -> Description:
    with ThreadPoolExecutor(_THREADS) as pool:
        reader = _Reader(storage, progress, pool)
        for error in progress.problems:
            reader.problem("", error)
        described = [reader.operator(number) for number in operators(storage)]
    offsets, oldest = progress.offsets, progress.oldest
    return Description(
        path=storage.root,
        query_id=query,
        provider=progress.provider,
        last_batch=progress.last_batch,
        last_batch_ms=offsets.timestamp_ms if offsets and progress.commit else None,
        oldest_batch=oldest.batch if oldest else None,
        oldest_batch_ms=oldest.timestamp_ms if oldest else None,
        operators=tuple(operator for operator in described if operator is not None),
        problems=tuple(reader.problems),
    )


def _only_partition_0(first: list[list[_Part]]) -> bool:
    """Whether the rows of an operator all belong to partition 0, so that no other was ever made."""
    families = [
        family for store in first for part in store if part.head for family in part.head.families
    ]
    return bool(families) and all(family.partition_key == _CONSTANT for family in families)


def _store(name: str, parts: list[_Part]) -> StoreDescription:
    heads = [part.head for part in parts if part.head is not None]
    rows = [total(it.keys for it in head.families if not it.internal) for head in heads]
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
        live_bytes=total(family.bytes for head in heads for family in head.families),
        disk_bytes=sum(sum(part.files.sizes.values()) for part in parts),
        deltas=sum(part.files.count(Kind.DELTA) for part in parts),
        snapshots=sum(part.files.count(Kind.SNAPSHOT) for part in parts),
        references=sum(part.files.count(Kind.REFERENCE) for part in parts),
        families=tuple(
            FamilyDescription(
                name=family,
                internal=found[0].internal,
                rows=total(it.keys for it in found),
                values=total(it.values for it in found),
                live_bytes=total(it.bytes for it in found),
            )
            for family, found in families.items()
        ),
    )
