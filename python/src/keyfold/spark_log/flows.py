"""The flows of a declarative pipeline, by the checkpoints in its storage folder.

Spark keeps the checkpoint of a flow in `_checkpoints/TARGET/FLOW/NUMBER`, where the name of a table
is a folder for each of its parts. A full refresh begins the next number, and the largest counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from keyfold.storage.storage import Storage

_ROOT = "_checkpoints"


@dataclass(frozen=True)
class Flow:
    """A flow of a declarative pipeline, with the table or sink that it writes to.

    `checkpoint` is the path of its newest checkpoint, with which the flow goes on.
    """

    target: str
    name: str
    checkpoint: str


def flows(storage: Storage) -> tuple[Flow, ...]:
    """The flows of the pipeline whose storage folder this is, by target and name.

    Empty if it is none, or no flow has run.
    """
    return tuple(sorted(_found(storage), key=lambda it: (it.target, it.name)))


def _found(storage: Storage) -> Iterator[Flow]:
    level = [_ROOT]
    while level:
        storage.fetch(listings=level)
        below = {it: _folders(storage, it) for it in level}
        newest = {
            path: f"{path}/{max(numbers, key=int)}"
            for path, names in below.items()
            if (numbers := [it for it in names if it.isascii() and it.isdigit()])
        }
        storage.fetch(listings=newest.values())
        level = []
        for path, names in below.items():
            target, _, flow = path.removeprefix(f"{_ROOT}/").rpartition("/")
            if target and path in newest and _is_of_a_flow(storage, newest[path]):
                yield Flow(target.replace("/", "."), flow, storage.full_path(newest[path]))
            else:
                level += [f"{path}/{it}" for it in names]


def _folders(storage: Storage, path: str) -> list[str]:
    """Those that may lead to flows: none below a checkpoint, which may be anybody's."""
    if _is_checkpoint(storage, path):
        return []
    return [it.name for it in storage.listing(path) if it.is_folder]


def _is_of_a_flow(storage: Storage, newest: str) -> bool:
    """A full refresh makes the next folder before there is anything in it."""
    return not storage.listing(newest) or _is_checkpoint(storage, newest)


def _is_checkpoint(storage: Storage, path: str) -> bool:
    """By the file, since a table may be called `commits`."""
    return any(it.name == "metadata" and not it.is_folder for it in storage.listing(path))
