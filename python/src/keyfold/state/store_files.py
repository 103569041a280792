"""The files of one store, and the versions that they can make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

from keyfold.errors import FileMissingError, KeyfoldError
from keyfold.format.footer import Footer
from keyfold.format.manifest import Layer, manifest_path, read_layer
from keyfold.format.names import HEAD_KINDS, FileKind, FileName, StoreLocation, Version, parse_name
from keyfold.format.reader import read_footer
from keyfold.format.source import BytesSource, Source
from keyfold.storage.storage import Storage

# A file of a remote chain is read whole up to this size: that is faster than two requests.
_WHOLE_BYTES = 1 << 20
# Partitions that are listed together; a page of a listing has 1,000 files.
_LISTED_TOGETHER = 25
# Bytes of a store's remote files that are kept until they are used.
_HELD_BYTES = 16 << 20


# Footers of files as they were listed: by path, size and time. Without ids, a later attempt puts
# another file in the place of one.
Footers: TypeAlias = dict[tuple[str, int | None, int | None], Footer]


# A version in a lineage, and whether versions between the one before it and this one have the rows
# of that one.
_Ancestor: TypeAlias = tuple[Version, bool]


@dataclass(frozen=True)
class StoreFiles:
    """A listing of a store's folder, without other programs' files.

    `sizes` are in bytes, `times` in ms since 1970. A footer is read once, also by several listings
    that share `footers`, and so are small files of a remote storage.
    """

    storage: Storage
    location: StoreLocation
    sizes: dict[FileName, int]
    times: dict[FileName, int | None] = field(default_factory=dict)
    footers: Footers = field(default_factory=dict, compare=False, repr=False)
    _layers: dict[FileName, list[Layer]] = field(default_factory=dict, compare=False, repr=False)
    _held: dict[str, BytesSource] = field(default_factory=dict, compare=False, repr=False)

    @property
    def folder(self) -> str:
        """The store's folder."""
        return self.location.folder

    @contextmanager
    def open(self, path: str) -> Iterator[Source]:
        """A file of the store or of its references, by its path in the checkpoint.

        Raises as `Storage.open` does.
        """
        held = self._held.get(path)
        if held is not None:
            yield held
            return
        size = self.size_of(path) if self.storage.remote else None
        with self.storage.open(path, size) as file:
            if isinstance(file, BytesSource):
                self._held[path] = file
            yield file

    def fetch(self, sizes: Iterable[tuple[str, int | None]]) -> None:
        """Reads small files of a remote storage side by side, for `open`.

        Errors are left to `open`.

        Args:
            sizes: paths in the checkpoint, and the length of each if it is known.
        """
        if not self.storage.remote:
            return
        left = _HELD_BYTES - sum(it.size for it in self._held.values())
        wanted = []
        for path, size in sizes:
            if path not in self._held and size is not None and size <= min(left, _WHOLE_BYTES):
                wanted.append(path)
                left -= size

        def read(path: str) -> None:
            with suppress(KeyfoldError):
                content = self.storage.whole(path)
                self._held[path] = BytesSource(self.storage.full_path(path), content)

        self.storage.side_by_side(read, wanted)

    def sized(self, names: Iterable[FileName]) -> list[tuple[str, int | None]]:
        """Own files as `fetch` takes them."""
        return [(f"{self.folder}/{it}", self.sizes[it]) for it in names]

    def release(self) -> None:
        """Gives up the contents that it keeps; footers stay."""
        self._held.clear()

    def size_of(self, path: str) -> int | None:
        """Length of an own file in bytes; None if the listing does not have it."""
        return self.as_listed(path)[1]

    def as_listed(self, path: str) -> tuple[str, int | None, int | None]:
        """A file as `footers` has it."""
        folder, _, file = path.rpartition("/")
        name = parse_name(file) if folder == self.folder else None
        if name is None:
            return path, None, None
        return path, self.sizes.get(name), self.times.get(name)

    def head(self, version: Version) -> Footer:
        """The footer of a version's head.

        Raises:
            FileMissingError: the version has no head.
            KeyfoldError: its head cannot be read.
        """
        broken: KeyfoldError | None = None
        for kind in HEAD_KINDS:
            name = FileName(*version, kind)
            if name in self.sizes:
                try:
                    return self.footer(name)
                except KeyfoldError as error:
                    # A snapshot has the same identity and lineage, and all rows.
                    broken = broken or error
        if broken is not None:
            raise broken
        raise FileMissingError(
            f"Cannot find version {version.number} of {self.storage.full_path(self.folder)}: there "
            f"is no {FileName(*version, FileKind.DELTA)} and no .ref or .snapshot of that name. "
            "Restore it from a copy, or restart the query from an earlier batch.",
            f"{self.folder}/{FileName(*version, FileKind.DELTA)}",
        )

    def footer(self, name: FileName) -> Footer:
        """The footer of a file. Raises KeyfoldError."""
        return self.footer_at(f"{self.folder}/{name}")

    def footer_at(self, path: str) -> Footer:
        """The footer of a file, by its path in the checkpoint. Raises KeyfoldError."""
        known = self.footers.get(self.as_listed(path))
        if known is not None:
            return known
        with self.open(path) as file:
            return self.footer_of(file, path)

    def footer_of(self, file: Source, path: str) -> Footer:
        """The footer of an open file. Raises KeyfoldError."""
        listed = self.as_listed(path)
        known = self.footers.get(listed)
        if known is None:
            known = self.footers[listed] = read_footer(file)
        return known

    def layers(self, reference: Footer) -> list[Layer]:
        """A reference's layers in its manifest, oldest first. Raises KeyfoldError."""
        name = reference.name
        known = self._layers.get(name)
        if known is None:
            with self.storage.open(manifest_path(reference)) as file:
                known = [read_layer(file, part) for part in reference.parts]
            self._layers[name] = known
        return known

    def footer_or_none(self, name: FileName) -> Footer | None:
        """The footer of a file; None if it cannot be read."""
        try:
            return self.footer(name)
        except KeyfoldError:
            return None

    def _footer_if_listed(self, name: FileName) -> Footer | None:
        return self.footer_or_none(name) if name in self.sizes else None

    def counts(self, snapshot: FileName) -> bool:
        """Whether a snapshot counts (docs/FORMAT.md, rule R8).

        A snapshot that cannot be read counts: its reader will raise the error. With an id nothing
        is read.
        """
        footer = None if snapshot.id else self.footer_or_none(snapshot)
        if footer is None or footer.head is None:
            return True
        for kind in (FileKind.DELTA, FileKind.REFERENCE):
            name = FileName(snapshot.version, snapshot.id, kind)
            if name in self.sizes:
                head = self.footer_or_none(name)
                return head is None or head.fingerprint == footer.head
        return True

    def count(self, kind: FileKind) -> int:
        """Number of files of a kind."""
        return sum(name.kind is kind for name in self.sizes)

    def bases(self, version: Version) -> list[int]:
        """The bases of a version's merged deltas."""
        return self._bases.get(version, [])

    @cached_property
    def _bases(self) -> dict[Version, list[int]]:
        found: dict[Version, list[int]] = {}
        for it in self.sizes:
            if it.base is not None:
                found.setdefault(Version(it.version, it.id), []).append(it.base)
        return found

    @cached_property
    def oldest(self) -> int:
        """The oldest version whose files are all there, as far as retention goes.

        Of older ones it keeps the snapshot and the merged deltas that a merged delta of this
        version builds on, and no deltas.
        """
        whole = (it.version for it in self.sizes if not it.kind.is_replaceable)
        first = min(whole, default=max((it.version for it in self.sizes), default=0))
        tops = {it.version for it in self.sizes if it.kind.is_replaceable and it.version <= first}
        top = max(tops, default=first)
        is_merged = any(it.version == top and it.base is not None for it in self.sizes)
        return top if is_merged or not tops else min(tops)

    def loadable(self, version: int, head: Footer | None) -> list[range]:
        """Versions up to `version` for which all files exist, ascending; contents are not checked.

        Ids of older versions come from the lineage of `head`, which has the rows of `version`, and
        of the snapshots and merged deltas it leads to. `version` itself is left out when its head
        cannot be read (None).
        """
        found: list[range] = []
        reached: set[int] = set()
        # What follows the last version that is reached and those that have its rows.
        end = 0
        ancestry = [*self._ancestry(version, head), (Version(version + 1, ""), True)]
        for (at, _), (following, is_complete) in pairwise(ancestry):
            heads = {it for it in HEAD_KINDS if FileName(*at, it) in self.sizes}
            is_on_base = not reached.isdisjoint(self.bases(at))
            if heads - {FileKind.DELTA} or is_on_base or (heads and at.number in {1, end}):
                reached.add(at.number)
                # With ids, versions that are left out have the rows of this one.
                end = following.number if at.id and is_complete else at.number + 1
                if heads and at.number >= self.oldest:
                    found.append(range(at.number, end))
        return found

    def _ancestry(self, version: int, head: Footer | None) -> list[_Ancestor]:
        """Versions of the lineage of `version`, and its own if it has a head; oldest first."""
        if head is None or not head.identity.id:
            # Without ids a version has one name, so the listing is enough.
            last = version if head else version - 1
            names = {it.version for it in self.sizes if not it.id and it.version <= last}
            return [(Version(it, ""), True) for it in sorted(names)]
        ids = {head.identity.version: head.identity.id}
        complete = {head.identity.version}
        left = [head]
        while left:
            for link in left.pop().lineage:
                ids[link.version] = link.id
                if link.version in complete:
                    continue
                if link.kind is FileKind.DELTA:
                    complete.add(link.version)
                elif link.kind.is_replaceable and link.version > self.oldest:
                    delta = FileName(link.version, link.id, FileKind.DELTA)
                    # If neither can be read, versions that only their lineages have do not count.
                    footer = self._footer_if_listed(link) or self._footer_if_listed(delta)
                    if footer is not None:
                        left.append(footer)
                        complete.add(link.version)
        return [(Version(*it), it[0] in complete) for it in sorted(ids.items())]


def list_partitions(storage: Storage, operator: int, partitions: int) -> None:
    """Lists all partitions of an operator at once, where that is quicker than one by one."""
    # The order of object stores is that of the text; each part has some pages of a listing.
    names = sorted(map(str, range(partitions)))
    storage.list_below(f"state/{operator}", names[_LISTED_TOGETHER::_LISTED_TOGETHER])


def list_store(  # noqa: PLR0913 - what is left out, and what is known
    storage: Storage,
    location: StoreLocation,
    last: int,
    first: int = 0,
    *,
    anew: bool = False,
    footers: Footers | None = None,
) -> StoreFiles:
    """Lists a store's folder; `anew`: also if its listing is remembered.

    Footers that are known are not read again, and those that are read are added. Versions after
    `last` are left out because they are not committed, and those before `first` because HDFSBacked,
    from before a migration, uses the same file names.
    """
    sizes: dict[FileName, int] = {}
    times: dict[FileName, int | None] = {}
    for entry in storage.listing(location.folder, anew=anew):
        name = None if entry.is_folder else parse_name(entry.name)
        if name is not None and first <= name.version <= last:
            sizes[name], times[name] = entry.size, entry.modified
    return StoreFiles(storage, location, sizes, times, {} if footers is None else footers)
