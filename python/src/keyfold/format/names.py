"""Names and places of Keyfold's files (docs/FORMAT.md, section 2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

DEFAULT_STORE = "default"
_PATH = re.compile(r"/state/(\d+)/(\d+)/(?:([^/]+)/)?[^/]+$")


class FileKind(IntEnum):
    """FileKind of a file, with its code in the format."""

    DELTA = 1
    SNAPSHOT = 2
    REFERENCE = 3
    MERGED = 5

    @property
    def label(self) -> str:
        """In words, for users."""
        return "merged delta" if self is FileKind.MERGED else self.name.lower()

    @property
    def is_change(self) -> bool:
        """Whether such a file says what has changed, and not all rows of a version."""
        return self in {FileKind.DELTA, FileKind.MERGED}

    @property
    def is_replaceable(self) -> bool:
        """Whether other files have the same rows, at least until retention deletes them."""
        return self in {FileKind.SNAPSHOT, FileKind.MERGED}


_SUFFIXES = {
    FileKind.DELTA: "delta",
    FileKind.SNAPSHOT: "snapshot",
    FileKind.REFERENCE: "ref",
    FileKind.MERGED: "merged",
}
_KINDS = {suffix: kind for kind, suffix in _SUFFIXES.items()}
_NUMBER = "[1-9][0-9]*"
_NAME = re.compile(rf"({_NUMBER})(?:_([^/.]+))?(?:\.({_NUMBER}))?\.({'|'.join(_KINDS)})")
_FOLDER = re.compile(r"state/(?:0|[1-9][0-9]{0,18})/(?:0|[1-9][0-9]{0,9})(?:/([^/]+))?")
_NOT_OF_ID = re.compile(r"[/.\x00-\x1f\x7f]")
_NOT_OF_STORE = re.compile(r"[/\x00-\x1f\x7f]")
# What ids begin with that lead to another version.
_SAME = "="
_MOST = (1 << 63) - 1

# The order in which to look for the head of a version.
HEAD_KINDS = (FileKind.DELTA, FileKind.REFERENCE, FileKind.SNAPSHOT)


class Version(NamedTuple):
    """A version that has files. `id` is empty under checkpoint format v1."""

    number: int
    id: str


@dataclass(frozen=True)
class FileName:
    """A file name of Keyfold. `id` is empty under checkpoint format v1.

    `base` is the number of the version that a merged delta is applied to; None of other kinds.
    """

    version: int
    id: str
    kind: FileKind
    base: int | None = None

    @property
    def is_valid(self) -> bool:
        """Whether a version may have such a file: only one with an id has merged deltas."""
        if self.base is None:
            return self.kind is not FileKind.MERGED
        return self.kind is FileKind.MERGED and self.id != "" and 0 < self.base < self.version

    def replaces(self, version: int) -> bool:
        """Whether it is a merged delta in the place of the delta of an older version."""
        return self.base is not None and self.base < version < self.version

    def __str__(self) -> str:
        """The name, without a folder."""
        unique = f"_{self.id}" if self.id else ""
        base = "" if self.base is None else f".{self.base}"
        return f"{self.version}{unique}{base}.{_SUFFIXES[self.kind]}"


def parse_name(name: str) -> FileName | None:
    """Parses a name without a folder; None if it is not a name of Keyfold's."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    version, unique, base, suffix = match.groups()
    if not is_number(version) or not is_number(base or version) or not is_id(unique or ""):
        return None
    found = FileName(int(version), unique or "", _KINDS[suffix], int(base) if base else None)
    return found if found.is_valid else None


def is_number(text: str) -> bool:
    """Whether it can be the number of a version, batch or operator, all of which have 63 bits."""
    return text.isascii() and text.isdecimal() and len(text) < 20 and int(text) <= _MOST  # noqa: PLR2004


def is_id(text: str) -> bool:
    """Whether it can be the id of a version that has files."""
    return not text.startswith(_SAME) and _NOT_OF_ID.search(text) is None


def written(number: int, unique: str) -> Version | None:
    """The version whose files have the rows of a version, given its id in the commit log.

    That is the version itself, unless nothing has changed since an earlier one (docs/FORMAT.md,
    section 2.1). None if that can be the id of no version.
    """
    if not unique.startswith(_SAME):
        return Version(number, unique) if is_id(unique) else None
    earlier, _, its_own = unique.removeprefix(_SAME).partition("_")
    is_earlier = is_number(earlier) and 0 < int(earlier) < number and not earlier.startswith("0")
    return Version(int(earlier), its_own) if is_earlier and its_own and is_id(its_own) else None


def original(version: Version) -> Version:
    """The version in whose place one is that has files (section 2.2); itself if in no other's."""
    place = version.id.partition("~")[2] or version.id
    return written(version.number, place) or version


def is_store(text: str) -> bool:
    """Whether it can be the name of a store, and so of a folder."""
    return text not in {"", ".", ".."} and _NOT_OF_STORE.search(text) is None


def is_folder(path: str) -> bool:
    """Whether it is the path of a store's folder, relative to the checkpoint."""
    folder = _FOLDER.fullmatch(path)
    return folder is not None and (folder[1] is None or is_store(folder[1]))


def is_file(path: str, name: str) -> bool:
    """Whether it is the path of the file `name` in a store's folder, relative to the checkpoint."""
    return path.endswith(f"/{name}") and is_folder(path[: -len(name) - 1])


@dataclass(frozen=True)
class StoreLocation:
    """One store of one partition of an operator."""

    operator: int
    partition: int
    store: str

    @property
    def folder(self) -> str:
        """Its folder, relative to the checkpoint (docs/FORMAT.md, section 2)."""
        folder = f"state/{self.operator}/{self.partition}"
        return folder if self.store == DEFAULT_STORE else f"{folder}/{self.store}"

    def __str__(self) -> str:
        """Operator, partition and store, for messages."""
        named = "" if self.store == DEFAULT_STORE else f" store {self.store}"
        return f"operator {self.operator} partition {self.partition}{named}"


def location_of(path: str) -> StoreLocation | None:
    """The store that a file is of, by its path; None if that does not tell."""
    found = _PATH.search(path)
    return found and StoreLocation(int(found[1]), int(found[2]), found[3] or DEFAULT_STORE)
