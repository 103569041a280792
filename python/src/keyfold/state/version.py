"""Loads a version of one partition's store from its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from keyfold.errors import FileCorruptError, KeyfoldError
from keyfold.format.footer import Family, Footer
from keyfold.format.names import Version
from keyfold.format.reader import read_blocks
from keyfold.format.source import Source
from keyfold.state.chain import Chain, Step, chain_of
from keyfold.state.entries import Entries, Rows, concatenated, of_block, rows_of
from keyfold.state.selection import ALL, Selection
from keyfold.state.store_files import StoreFiles, list_store

# What a step gives of a selection: its footer; the family and the entries of each block.
Known: TypeAlias = dict[tuple[Step, Selection], tuple[Footer, list[tuple[str, Entries]]]]

# How often to read a store again because its files have changed meanwhile.
_TRIES = 4


@dataclass(frozen=True, eq=False)
class StoreVersion:
    """A loaded version by family; families that were not requested are left out."""

    head: Footer
    entries: Mapping[str, Entries]

    def rows(self, family: str) -> Rows:
        """The rows of a family."""
        return rows_of(self.entries[family])

    @property
    def families(self) -> dict[str, Family]:
        """Every family of the version, by name."""
        return {family.name: family for family in self.head.families}


def load(
    files: StoreFiles, version: Version, wanted: Selection = ALL, known: Known | None = None
) -> StoreVersion:
    """Loads a selection of a version from the files of its store.

    If the files have changed meanwhile, they are listed and read again. If a snapshot or a merged
    delta cannot be used, other files are. What `known` has is not read again, and it keeps what the
    files of this version give, so that most next versions need to read one file only.

    Raises:
        FileMissingError: a file that the version needs does not exist.
        KeyfoldError: a file cannot be read.
    """
    known = {} if known is None else known
    for left in reversed(range(_TRIES)):
        try:
            return _load(files, version, wanted, known)
        except KeyfoldError:
            now = list_store(files.storage, files.location, version.number, anew=True)
            if left == 0 or (now.sizes, now.times) == (files.sizes, files.times):
                raise
            files = now
            known.clear()
    raise AssertionError


def _load(files: StoreFiles, version: Version, wanted: Selection, known: Known) -> StoreVersion:
    broken: KeyfoldError | None = None
    unusable: set[str] = set()
    while True:
        try:
            chain = chain_of(files, version, unusable)
        except KeyfoldError as error:
            # The error of the best chain is more helpful than those of the others.
            raise (broken or error) from error
        try:
            return StoreVersion(chain.head, _build(files, chain, wanted, known))
        except _UnusableError as error:
            broken = broken or error.why
            unusable.add(error.path)


class _UnusableError(Exception):
    """A file of a chain cannot be used."""

    def __init__(self, path: str, why: KeyfoldError) -> None:
        super().__init__(path)
        self.path = path
        self.why = why


def _build(files: StoreFiles, chain: Chain, wanted: Selection, known: Known) -> dict[str, Entries]:
    """The entries of each family; raises _UnusableError."""
    pieces: dict[str, list[Entries]] = {}
    kept: dict[str, Family] = {}
    files.fetch(
        (it.path, it.reference.length if it.reference else files.size_of(it.path))
        for it in chain.steps
        if (it, wanted) not in known
    )
    for step in chain.steps:
        try:
            if (step, wanted) not in known:
                with files.open(step.path) as file:
                    footer = files.footer_of(file, step.path)
                    step.check(files, footer, chain.head.identity.key_groups)
                    known[step, wanted] = footer, _selected(file, footer, step, wanted)
            footer, taken = known[step, wanted]
            if not step.taken:
                _check_families(files.storage.full_path(step.path), footer, kept)
        except KeyfoldError as error:
            raise _UnusableError(step.path, error) from error
        for name in footer.dropped:
            pieces[name] = _without(pieces.get(name, []), footer, step)
        for name, entries in taken:
            pieces.setdefault(name, []).append(entries)
    for other in known.keys() - {(step, wanted) for step in chain.steps}:
        del known[other]
    return {
        family.name: concatenated(pieces.get(family.name, []))
        for family in chain.head.families
        if wanted.takes(family.name)
    }


def _selected(
    file: Source, footer: Footer, step: Step, wanted: Selection
) -> list[tuple[str, Entries]]:
    taken = []
    for columns in read_blocks(file, footer, wanted.blocks(footer, step.taken)):
        if step.reference is not None and columns.family.strays:
            continue  # no rescale moves strays: the family was dropped later
        entries = of_block(columns, step.path)
        mask = wanted.mask(columns.hashes, step.taken)
        taken.append((columns.family.name, entries if mask is None else entries.take(mask)))
    return taken


def _check_families(path: str, footer: Footer, kept: dict[str, Family]) -> None:
    """Checks that families are kept as in earlier files, unless they were dropped since."""
    for name in footer.dropped:
        kept.pop(name, None)
    for family in footer.families:
        if not family.is_kept_as(kept.setdefault(family.name, family)):
            raise FileCorruptError(
                f"Cannot read {path}: its column family {family.name} has other encodings than in "
                "the files before it. Restore the folder from a copy."
            )


def _without(pieces: list[Entries], footer: Footer, step: Step) -> list[Entries]:
    """The entries of a family that remain after a file drops it.

    A file that a reference names drops only the rows that are taken of its partition: rows of other
    partitions may be newer and stay.
    """
    identity = footer.identity
    if step.reference is None or identity.partitions == 0:
        return []
    kept = []
    for piece in pieces:
        gone = piece.rows.hashes % identity.partitions == identity.partition
        for share in step.taken:
            gone &= share.has(piece.rows.hashes)
        kept.append(piece.take(~gone))
    return kept
