"""Which files, in which order, give a version (docs/FORMAT.md, sections 2 and 4.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from keyfold.errors import FileMissingError
from keyfold.footer import Footer, Reference
from keyfold.names import FileName, Kind
from keyfold.store_files import StoreFiles


@dataclass(frozen=True)
class Step:
    """A file to apply, by its path in the checkpoint; a reference says what to take of it."""

    path: str
    reference: Reference | None = None


@dataclass(frozen=True)
class Chain:
    """Files that together give the version of `head`, in the order to apply them."""

    head: Footer
    steps: tuple[Step, ...]


def chains(files: StoreFiles, version: int, unique: str) -> Iterator[Chain]:
    """Every chain of files that gives a version, from the one with the fewest deltas on.

    Raises:
        FileMissingError: there is no chain, or no other one.
        KeyfoldError: a head on the way cannot be read.
    """
    head = files.head(version, unique)
    lineage = list(head.lineage)
    newer: list[Step] = []
    at, at_id = version, unique
    while True:
        snapshot = FileName(at, at_id, Kind.SNAPSHOT)
        if snapshot in files.sizes and files.counts(snapshot):
            yield Chain(head, (_step(files, snapshot), *newer))
        reference = FileName(at, at_id, Kind.REFERENCE)
        if reference in files.sizes:
            taken = [Step(f"state/{it.path}", it) for it in files.footer(reference).references]
            yield Chain(head, (*taken, *newer))
        delta = FileName(at, at_id, Kind.DELTA)
        if delta not in files.sizes:
            raise _missing(files, version, delta)
        newer.insert(0, _step(files, delta))
        if at == 1:
            yield Chain(head, tuple(newer))
            return
        lineage = lineage or list(files.footer(delta).lineage)
        if not lineage:
            raise _missing(files, version, FileName(at, at_id, Kind.SNAPSHOT))
        at, at_id = lineage[0].version, lineage[0].id
        lineage.pop(0)


def _step(files: StoreFiles, name: FileName) -> Step:
    return Step(f"{files.folder}/{name}")


def _missing(files: StoreFiles, version: int, name: FileName) -> FileMissingError:
    return FileMissingError(
        f"Cannot load version {version} (the state after batch {version - 1}) of "
        f"{files.storage.full_path(files.folder)}: {name} is not there, and no other file gives "
        "what it has. Restore it from a copy, or look at a newer batch."
    )
