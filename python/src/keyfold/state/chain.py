"""The files that make a version, in order (docs/FORMAT.md, sections 2 and 4.2)."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from keyfold.errors import FileCorruptError, FileMissingError, KeyfoldError, KeyGroupsMismatchError
from keyfold.format.footer import Footer, Reference
from keyfold.format.names import FileKind, FileName, Version
from keyfold.rows.arrow import Flags
from keyfold.state.selection import Residues
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
            own = own and footer.name == named.name
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

    `base` is the version of the newest of them that is no delta; 1 if all are. Of versions before
    it, no other files are needed.
    """

    head: Footer
    steps: tuple[Step, ...]
    base: int


def chain_of(files: StoreFiles, version: Version, without: Container[str] = ()) -> Chain:
    """The files that give a version: of each version in its lineage the one that leads furthest.

    That is its snapshot; else, of its merged deltas whose base is in the lineage, the one with the
    smallest base; else its delta. Where this leads to no rows, the next of them is taken; if none
    does, merged deltas of other bases count too, with their own lineages.

    Args:
        files: those of the store.
        version: one that has a head.
        without: paths in the checkpoint of files that cannot be used.

    Raises:
        FileMissingError: there are no such files.
        KeyfoldError: the head, or another file that is needed, cannot be read.
    """
    return _Search(files, version, without).run()


# The rest of a lineage, from some version on, and the files that are applied after that version.
_Way: TypeAlias = tuple[tuple[FileName, ...], tuple[FileName, ...]]


class _Search:
    """Looks for files that give a version."""

    def __init__(self, files: StoreFiles, version: Version, without: Container[str]) -> None:
        self._files = files
        self._version = version
        self._without = without
        self._errors: list[KeyfoldError] = []

    def run(self) -> Chain:
        head = self._files.head(self._version)
        found = self._search(head, any_base=False) or self._search(head, any_base=True)
        if found is None:
            # That a file cannot be read says more than that others are missing, as after retention.
            raise min(self._errors, key=lambda it: isinstance(it, FileMissingError))
        return found

    def _search(self, head: Footer, *, any_base: bool) -> Chain | None:
        # The last one is followed first.
        ways: list[_Way] = [((head.name, *head.lineage), ())]
        seen: set[tuple[FileName, int]] = set()
        while ways:
            left, newer = ways.pop()
            # What has led to no rows once is not followed again.
            if (left[0], len(left)) in seen:
                continue
            seen.add((left[0], len(left)))
            try:
                start = self._start(left[0])
                if start is None:
                    ways += self._ways(left, newer, any_base=any_base)
                    continue
            except KeyfoldError as error:
                self._errors.append(error)
                continue
            tops = (it.version for it in reversed(newer) if it.kind is not FileKind.DELTA)
            base = next(tops, left[0].version)
            return Chain(head, (*start, *map(self._step, newer)), base)
        return None

    def _start(self, here: FileName) -> list[Step] | None:
        """The files that have all rows of a version; None if only changes of older ones do."""
        snapshot, reference, delta = (
            FileName(here.version, here.id, it)
            for it in (FileKind.SNAPSHOT, FileKind.REFERENCE, FileKind.DELTA)
        )
        if self._is_usable(snapshot) and self._files.counts(snapshot):
            return [self._step(snapshot)]
        if self._is_usable(reference):
            steps = referenced(self._files, self._files.footer(reference))
            if not any(it.path in self._without for it in steps):
                return steps
        if here.version == 1 and self._is_usable(delta):
            return [self._step(delta)]
        return None

    def _ways(
        self, left: tuple[FileName, ...], newer: tuple[FileName, ...], *, any_base: bool
    ) -> Iterator[_Way]:
        """How to go on from a version by its changes, the shortest way at the end."""
        here, below = left[0], left[1:]
        delta = FileName(here.version, here.id, FileKind.DELTA)
        if here != delta and here not in self._files.sizes:
            self._misses(here)
        if not self._is_usable(delta):
            self._misses(delta)
        elif here != delta:
            # Its own lineage leads to the same rows.
            yield (delta,), newer
        else:
            below = below or self._files.footer(delta).lineage
            if below:
                yield below, (delta, *newer)
            else:
                self._misses(FileName(here.version, here.id, FileKind.SNAPSHOT))
        for base in sorted(self._files.bases(Version(here.version, here.id)), reverse=True):
            merged = FileName(here.version, here.id, FileKind.MERGED, base)
            if self._is_usable(merged):
                older = _from(below, base)
                if not older and any_base:
                    own = self._files.footer_or_none(merged)
                    older = _from(own.lineage, base) if own else ()
                if older:
                    yield older, (merged, *newer)

    def _is_usable(self, name: FileName) -> bool:
        return name in self._files.sizes and self._step(name).path not in self._without

    def _step(self, name: FileName) -> Step:
        return Step(f"{self._files.folder}/{name}")

    def _misses(self, name: FileName) -> None:
        path, number = f"{self._files.folder}/{name}", self._version.number
        self._errors.append(
            FileMissingError(
                f"Cannot load version {number} (the state after batch {number - 1}) of "
                f"{self._files.storage.full_path(self._files.folder)}: {name} does not exist, and "
                "no other file has its rows. Restore it from a copy, or look at a newer batch.",
                path,
            )
        )


def _from(lineage: tuple[FileName, ...], base: int) -> tuple[FileName, ...]:
    """A lineage from a version on; nothing if it is none of its versions."""
    older = tuple(it for it in lineage if it.version <= base)
    return older if older and older[0].version == base else ()


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
