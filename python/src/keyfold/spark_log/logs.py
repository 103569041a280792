"""Spark's own files in a checkpoint: offsets, commits and operator metadata."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from keyfold.errors import CheckpointDamagedError, FileMissingError, KeyfoldError
from keyfold.format.names import is_number, is_store, written
from keyfold.settings import PROVIDER_CLASS, PROVIDER_KEY
from keyfold.storage.files import Listed
from keyfold.storage.storage import Storage
from keyfold.text.json_text import parse_object

_PARTITIONS_KEY = "spark.sql.shuffle.partitions"
# More than any query has. The reader may look for partitions one by one, so the number is limited.
MOST_PARTITIONS = 100_000


@dataclass(frozen=True)
class Offsets:
    """A started batch: its time in ms since 1970, its watermark, and its settings."""

    batch: int
    timestamp_ms: int
    conf: dict[str, str]
    watermark_ms: int = 0

    @property
    def shuffle_partitions(self) -> int | None:
        """Number of partitions of the query's stateful operators; None if not known."""
        found = self.conf.get(_PARTITIONS_KEY, "")
        return int(found) if is_number(found) else None

    @property
    def provider(self) -> str | None:
        """Class of the query's state store provider; None if not known."""
        return self.conf.get(PROVIDER_KEY)

    @property
    def is_keyfolds(self) -> bool:
        """Whether the batch's state is Keyfold's. Before a migration it is another provider's."""
        return self.provider in {None, PROVIDER_CLASS}


@dataclass(frozen=True)
class Commit:
    """A finished batch. `ids` maps operator to ids by partition and store; empty in format v1."""

    batch: int
    ids: dict[int, list[list[str]]]

    def id_of(self, operator: int, partition: int, store: int) -> str:
        """Id of the version that the batch made; empty if the commit has none."""
        by_partition = self.ids.get(operator, [])
        by_store = by_partition[partition] if partition < len(by_partition) else []
        return by_store[store] if store < len(by_store) else ""


@dataclass(frozen=True)
class StoreMetadata:
    """A store of an operator, as Spark describes it.

    `schema_files` are those of metadata format v2, oldest first, relative to the checkpoint;
    `schema_paths` are the same as Spark has written them: absolute, and of another folder if the
    checkpoint was moved.
    """

    name: str
    partitions: int
    schema_files: tuple[str, ...] = ()
    schema_paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class OperatorMetadata:
    """A stateful operator, as Spark describes it. Stores are in the order of a commit's ids.

    `variables` are the state variables of a transformWithState: kind by name.
    """

    id: int
    name: str
    stores: tuple[StoreMetadata, ...]
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def partitions(self) -> int:
        """How many it has; in metadata of format v1, how many it had before a rescale."""
        return max((store.partitions for store in self.stores), default=1)


def query_id(storage: Storage, path: str = "metadata") -> str:
    """Id of the query. Raises FileMissingError or CheckpointDamagedError."""
    found = _object(storage, path, storage.text(path)).get("id")
    if not isinstance(found, str):
        raise _damaged(storage, path, "it has no query id")
    return found


def batches(storage: Storage, log: str) -> list[int]:
    """Batches in the log `offsets` or `commits`, ascending."""
    return _numbers(it for it in storage.listing(log) if not it.is_folder)


def read_offsets(storage: Storage, batch: int) -> Offsets:
    """A batch of the offset log. Raises FileMissingError or CheckpointDamagedError."""
    path = f"offsets/{batch}"
    entry = _entry(storage, path, {"v1", "v2"})
    conf = entry.get("conf", {})
    timestamp, watermark = entry.get("batchTimestampMs", 0), entry.get("batchWatermarkMs", 0)
    if not isinstance(conf, dict) or not _is_whole(timestamp):
        raise _damaged(storage, path, "its second line is not a batch's metadata")
    _check_partitions(storage, path, conf.get(_PARTITIONS_KEY))
    settings = {str(key): str(value) for key, value in conf.items()}
    watermark_ms = watermark if _is_whole(watermark) else 0
    return Offsets(batch, timestamp, settings, watermark_ms)


def offsets_or_none(storage: Storage, batch: int) -> Offsets | None:
    """A batch of the offset log; None if there is no entry, or a damaged one."""
    try:
        return read_offsets(storage, batch)
    except (FileMissingError, CheckpointDamagedError):
        return None


def read_commit(storage: Storage, batch: int) -> Commit:
    """A batch of the commit log. Raises FileMissingError or CheckpointDamagedError."""
    path = f"commits/{batch}"
    entry = _entry(storage, path, {"v1", "v2", "v3"}, alone="v1")
    by_operator = entry.get("stateUniqueIds") or {}
    try:
        ids = {
            int(operator): [[str(unique) for unique in stores] for stores in partitions]
            for operator, partitions in by_operator.items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise _damaged(storage, path, "its state ids are not a table") from error
    for unique in (it for table in ids.values() for stores in table for it in stores):
        if written(batch + 1, unique) is None:
            raise _damaged(storage, path, f"{unique!r} cannot be the id of a version")
    return Commit(batch, ids)


def operators(storage: Storage) -> list[int]:
    """Operators that have a folder, ascending."""
    return _numbers(it for it in storage.listing("state") if it.is_folder)


def metadata_folder(operator: int) -> str:
    """Where an operator's metadata of format v2 are."""
    return f"state/{operator}/_metadata/v2"


def read_operator(storage: Storage, operator: int, last_batch: int | None) -> OperatorMetadata:
    """Spark's metadata of an operator: the newest file that is not after `last_batch`.

    Raises FileMissingError or CheckpointDamagedError.
    """
    folder = metadata_folder(operator)
    # The first batch writes its metadata before it commits, so batch 0 is always eligible.
    newest = max(last_batch or 0, 0)
    versions = [batch for batch in _numbers(storage.listing(folder)) if batch <= newest]
    path = f"{folder}/{versions[-1]}" if versions else f"state/{operator}/_metadata/metadata"
    entry = _entry(storage, path, {"v1", "v2"})
    try:
        stores = tuple(
            StoreMetadata(
                str(store["storeName"]),
                int(store["numPartitions"]),
                tuple(_moved(operator, it) for it in store.get("stateSchemaFilePaths", ())),
                tuple(str(it) for it in store.get("stateSchemaFilePaths", ())),
            )
            for store in entry["stateStoreInfo"]
        )
        info = entry["operatorInfo"]
        metadata = OperatorMetadata(
            int(info["operatorId"]), str(info["operatorName"]), stores, _variables(entry)
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _damaged(storage, path, "it does not describe an operator") from error
    if metadata.id < 0:
        raise _damaged(storage, path, f"there is no operator {metadata.id}")
    if not stores:
        raise _damaged(storage, path, f"operator {metadata.id} has no store")
    for it in stores:
        _check_partitions(storage, path, it.partitions)
        if not is_store(it.name):
            raise _damaged(storage, path, f"{it.name!r} cannot be the name of a store")
    return metadata


def former_variables(storage: Storage, operator: int, names: Collection[str]) -> dict[str, str]:
    """Kinds of state variables that a query has no more, from earlier metadata, as far as known."""
    kinds: dict[str, str] = {}
    for batch in reversed(_numbers(storage.listing(metadata_folder(operator)))):
        if len(kinds) == len(names):
            break
        with suppress(KeyfoldError):
            earlier = dict(read_operator(storage, operator, batch).variables)
            kinds = {name: earlier[name] for name in names if name in earlier} | kinds
    return kinds


def read_operators(
    storage: Storage, numbers: Sequence[int], last_batch: int | None
) -> list[OperatorMetadata]:
    """The same of several operators, ascending."""
    storage.fetch(listings=[metadata_folder(it) for it in numbers])
    return storage.side_by_side(lambda it: read_operator(storage, it, last_batch), numbers)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_partitions(storage: Storage, path: str, said: object) -> None:
    text = str(said)
    if is_number(text) and int(text) > MOST_PARTITIONS:
        raise _damaged(storage, path, f"a query does not have {text} partitions")


def _variables(entry: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    properties = parse_object(entry.get("operatorPropertiesJson") or "{}")
    return tuple(
        (str(it["stateName"]), str(it["stateVariableType"]))
        for it in properties.get("stateVariables", ())
    )


def _moved(operator: int, path: str) -> str:
    """The current path of a schema file: Spark's paths are absolute, even in copies."""
    parts = str(path).split("/")[-3:]
    if not all(map(is_store, parts)):
        raise ValueError(path)
    return f"state/{operator}/" + "/".join(parts)


def _numbers(entries: Iterable[Listed]) -> list[int]:
    """Those that files or folders have as names, ascending."""
    return sorted(int(it.name) for it in entries if is_number(it.name))


def _entry(
    storage: Storage, path: str, known: set[str], alone: str | None = None
) -> dict[str, Any]:
    """What follows the version of a file, which is one of `known`; nothing need follow `alone`."""
    version, *lines = storage.text(path).splitlines() or [""]
    if version.strip() not in known:
        raise _damaged(
            storage, path, f"it begins with {version[:40]!r}, not with one of {sorted(known)}"
        )
    if not lines and version.strip() != alone:
        raise _damaged(storage, path, "the entry ends after its version")
    return _object(storage, path, lines[0]) if lines else {}


def _object(storage: Storage, path: str, text: str) -> dict[str, Any]:
    try:
        return parse_object(text)
    except ValueError as error:
        raise _damaged(storage, path, f"it is not an object of JSON: {error}") from error


def _damaged(storage: Storage, path: str, detail: str) -> CheckpointDamagedError:
    return CheckpointDamagedError(
        f"Cannot understand {storage.full_path(path)}: {detail}. It is a file of Spark's own; "
        "restore it from a copy, or use a Keyfold release made for the Spark that wrote it."
    )
