"""The folders of a checkpoint's state, and what in them belongs to no store."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.fsck.finding import Finding, Kind
from keyfold.names import parse_name
from keyfold.spark_log import OperatorMetadata
from keyfold.state.place import DEFAULT_STORE
from keyfold.storage import Listed, Storage


def strays(
    storage: Storage, operators: list[OperatorMetadata], partitions: dict[int, int], last: int
) -> Iterator[Finding]:
    """Folders and files that no store of the query has.

    Args:
        storage: the checkpoint.
        operators: those that Spark describes.
        partitions: partitions of each operator over all retained batches.
        last: the newest version that a batch which has started may write.
    """
    known = {str(operator.id): operator for operator in operators}
    for entry in _visible(storage.listing("state")):
        operator = known.get(entry.name)
        if operator is None:
            # One whose description cannot be read is told of as that.
            if not storage.listing(f"state/{entry.name}/_metadata"):
                yield _orphan(storage, f"state/{entry.name}", "the query has no such operator")
            continue
        stores = {store.name for store in operator.stores}
        for inner in _visible(storage.listing(f"state/{operator.id}")):
            path = f"state/{operator.id}/{inner.name}"
            number = int(inner.name) if inner.name.isdecimal() else -1
            if not inner.is_folder or number < 0:
                yield _orphan(storage, path, "it is no partition's folder")
            elif number >= partitions.get(operator.id, 1) and _has_state(storage, path):
                yield _orphan(storage, path, f"operator {operator.id} has no partition {number}")
            else:
                yield from _in_partition(storage, path, stores, last)


def _in_partition(storage: Storage, path: str, stores: set[str], last: int) -> Iterator[Finding]:
    for entry in _visible(storage.listing(path)):
        here = f"{path}/{entry.name}"
        if entry.is_folder:
            if entry.name not in stores:
                yield _orphan(storage, here, "the operator has no such store")
                continue
            for file in _visible(storage.listing(here)):
                yield from _file(storage, f"{here}/{file.name}", file, last)
        elif DEFAULT_STORE not in stores:
            yield _orphan(storage, here, "the operator has no store of the default name")
        else:
            yield from _file(storage, here, entry, last)


def _file(storage: Storage, path: str, entry: Listed, last: int) -> Iterator[Finding]:
    name = parse_name(entry.name)
    if name is None:
        yield _orphan(storage, path, "it is no file of Keyfold's or Spark's")
    elif name.version > last:
        yield _orphan(storage, path, f"no batch has begun that makes version {name.version}")


def _has_state(storage: Storage, path: str) -> bool:
    return any(not it.is_folder or it.name != "_metadata" for it in storage.listing(path))


def _visible(entries: list[Listed]) -> list[Listed]:
    return [it for it in entries if it.name[0] not in "._" and not it.name.endswith(".crc")]


def _orphan(storage: Storage, path: str, why: str) -> Finding:
    return Finding(
        Kind.ORPHAN, storage.full_path(path), f"{why}. It takes space and is read by nobody."
    )
