"""The files that make a version, in order (docs/FORMAT.md, sections 2 and 4.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from keyfold.errors import FileCorruptError, FileMissingError, KeyGroupsMismatchError
from keyfold.format.footer import Footer, Reference
from keyfold.format.names import FileKind, FileName, Version
from keyfold.rows.places import Flags
from keyfold.state.residues import Residues
from keyfold.state.store_files import StoreFiles


@dataclass(frozen=True)
class Step:
    """A file to apply, by its path in the checkpoint.

    If the manifest of a reference names it, only rows that are in all of `taken` are.
    """

    path: str
    reference: Reference | None = None
    taken: tuple[Residues, ...] = ()

    def may_hold(self, footer: Footer) -> Flags:
        """Whether each group of the file may have rows that are taken."""
        groups, key_groups = footer.groups.group, footer.identity.key_groups
        masks = [it.may_hold(groups, key_groups) for it in self.taken]
        found: Flags = np.logical_and.reduce([np.ones(len(groups), dtype=np.bool_), *masks])
        return found

    def check(self, files: StoreFiles, footer: Footer, key_groups: int) -> None:
        """Checks that the file is of the store, or the one that is named (FORMAT.md, rule R5).

        Raises:
            FileCorruptError: it is not.
            KeyGroupsMismatchError: it has another number of key groups.
        """
        identity, location, named = footer.identity, files.location, self.reference
        path = files.storage.full_path(self.path)
        if identity.key_groups != key_groups:
            raise KeyGroupsMismatchError(
                f"Cannot load {location}: {path} has {identity.key_groups} key groups, the version "
                f"has {key_groups}. Restore the checkpoint from one consistent copy."
            )
        own = (identity.operator, identity.store) == (location.operator, location.store)
        if named is None:
            own = own and identity.partition == location.partition
        else:
            its = (footer.frame.kind, identity.version, identity.id)
            own = own and its == (named.kind, named.version, named.id)
            own = own and named.may_have_length(footer.frame.file_length)
            own = own and footer.frame.kind is not FileKind.REFERENCE
        if not own:
            raise FileCorruptError(
                f"Cannot load {location}: {path}, of {footer.frame.file_length} bytes, says it is "
                f"of operator {identity.operator} partition {identity.partition} store "
                f"{identity.store}, version {identity.version}. Restore it from a copy."
            )


@dataclass(frozen=True)
class Chain:
    """Files that together give the version of `head`, in the order to apply them.

    `oldest` is the oldest version of the store's own folder among them.
    """

    head: Footer
    steps: tuple[Step, ...]
    oldest: int


def chains(files: StoreFiles, version: Version) -> Iterator[Chain]:
    """All chains of files that give a version, beginning with the one that has the fewest deltas.

    Raises:
        FileMissingError: there is no chain, or no other chain.
        KeyfoldError: the head of a version in the lineage cannot be read.
    """
    head = files.head(version)
    lineage = list(head.lineage)
    newer: list[Step] = []
    at = version
    while True:
        snapshot = FileName(*at, FileKind.SNAPSHOT)
        if snapshot in files.sizes and files.counts(snapshot):
            yield Chain(head, (_step(files, snapshot), *newer), at.number)
        reference = FileName(*at, FileKind.REFERENCE)
        if reference in files.sizes:
            yield Chain(head, (*referenced(files, files.footer(reference)), *newer), at.number)
        delta = FileName(*at, FileKind.DELTA)
        if delta not in files.sizes:
            raise _missing(files, version, delta)
        newer.insert(0, _step(files, delta))
        if at.number == 1:
            yield Chain(head, tuple(newer), at.number)
            return
        lineage = lineage or list(files.footer(delta).lineage)
        if not lineage:
            raise _missing(files, version, snapshot)
        below = lineage.pop(0)
        at = Version(below.version, below.id)


def referenced(files: StoreFiles, footer: Footer) -> list[Step]:
    """The files that a reference takes rows from (docs/FORMAT.md, section 11).

    Raises:
        KeyfoldError: its manifest cannot be read.
    """
    identity = footer.identity
    taken: tuple[Residues, ...] = (Residues(identity.partitions, frozenset({identity.partition})),)
    steps: list[Step] = []
    for layer in reversed(files.layers(footer)):
        here = [Step(it.path, it, taken) for partition in layer.members for it in partition.files]
        steps[:0] = here
        on_top = frozenset(it.partition for it in layer.members if it.on_top)
        if len(on_top) < len(layer.members):
            taken = (*taken, Residues(layer.partitions, on_top))
    return steps


def _step(files: StoreFiles, name: FileName) -> Step:
    return Step(f"{files.folder}/{name}")


def _missing(files: StoreFiles, version: Version, name: FileName) -> FileMissingError:
    number = version.number
    return FileMissingError(
        f"Cannot load version {number} (the state after batch {number - 1}) of "
        f"{files.storage.full_path(files.folder)}: {name} does not exist, and no other file has "
        "its rows. Restore it from a copy, or look at a newer batch.",
        f"{files.folder}/{name}",
    )
