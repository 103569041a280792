"""The plan of a rescale (docs/FORMAT.md, section 10)."""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import dataclass

import google_crc32c

from keyfold.errors import FormatVersionError
from keyfold.format.names import FileKind, is_file, is_folder, is_store, parse_name
from keyfold.wire.cursor import MalformedError

PLAN_ID = re.compile(r"[0-9a-zA-Z-]+")
_NAME = re.compile(r"rescale-(\d{1,18})-([0-9a-zA-Z-]+)\.(plan|manifest)", re.ASCII)
_OPEN = re.compile(r"open-(\d{1,9})", re.ASCII)
_SEALED = re.compile(rb"(.*\n)crc32c ([0-9a-f]{8})\n", re.DOTALL)
_NEWER = re.compile(rb"keyfold-rescale (\d+)\n")
_PLAN = re.compile(
    r"keyfold-rescale 1\nbatch (\d{1,18})\nid ([0-9a-zA-Z-]+)\nfrom (\d{1,9})\nto (\d{1,9})\n"
    r"undone (true|false)\n((?:file .*\n)*)((?:store \d{1,18} .*\n(?:ref .*\n)*(?:folder .*\n)*)*)",
    re.ASCII,
)
_FILE = re.compile(
    r"file ((?:offsets|commits|state/\d{1,18}/_metadata/v2)/\d{1,18}) (\S+) (\S+)", re.ASCII
)
_STORE = re.compile(r"store (\d{1,18}) (.*)\n((?:ref .*\n)*)((?:folder .*\n)*)", re.ASCII)


@dataclass(frozen=True)
class PlanName:
    """The name of a plan, or of the manifest that belongs to it.

    `number` is that of a plan before an open batch; None if the rescale has a batch of its own.
    """

    batch: int
    id: str
    is_plan: bool

    @property
    def number(self) -> int | None:
        """Which plan before the batch it is; None if the rescale has a batch of its own."""
        found = _OPEN.fullmatch(self.id)
        return None if found is None else int(found[1])

    def __str__(self) -> str:
        """The name of the plan."""
        return f"rescale-{self.batch}-{self.id}.plan"


@dataclass(frozen=True)
class RewrittenFile:
    """A file of Spark's own, with its old and its new content; None: there is no such file."""

    path: str
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True)
class RescaledStore:
    """A store: the references that the rescale writes, and the folders that it freezes."""

    operator: int
    store: str
    references: tuple[str, ...]
    frozen: tuple[str, ...]


@dataclass(frozen=True)
class RescalePlan:
    """A plan: `files` change in this order, or back in the reverse one if it is undone."""

    name: PlanName
    before: int
    after: int
    is_undone: bool
    files: tuple[RewrittenFile, ...]
    stores: tuple[RescaledStore, ...]

    @property
    def is_redistribution(self) -> bool:
        """Whether it is of an operator's subtasks: a rescale changes the number of partitions."""
        return self.before == self.after


def parse_plan_name(name: str) -> PlanName | None:
    """Parses the name of a plan or of a manifest; None if it is no such name."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    it = PlanName(int(found[1]), found[2], found[3] == "plan")
    # A manifest has the batch whose state its references hold.
    is_before = not it.is_plan and it.number is not None
    return PlanName(it.batch + 1, it.id, is_plan=False) if is_before else it


def read_plan(name: PlanName, content: bytes) -> RescalePlan:
    """Reads the plan with this name.

    Raises:
        MalformedError: it is damaged.
        FormatVersionError: a newer release wrote it.
    """
    sealed = _SEALED.fullmatch(content)
    if sealed is None or int(sealed[2], 16) != google_crc32c.value(sealed[1]):
        raise MalformedError("its checksum is wrong")
    newer = _NEWER.match(sealed[1])
    if newer is not None and newer[1] != b"1":
        raise FormatVersionError("a newer release of Keyfold wrote it")
    try:
        found = _PLAN.fullmatch(sealed[1].decode())
        if found is None:
            raise MalformedError("it is not the plan of a rescale")
        if (int(found[1]), found[2]) != (name.batch, name.id):
            raise MalformedError(f"it contains the plan {found[2]} of batch {found[1]}")
        files = tuple(map(_file, found[6].split("\n")[:-1]))
    except ValueError as error:
        raise MalformedError(str(error)) from error
    is_undone, is_own = found[5] == "true", name.number is None
    if is_own and (files or is_undone):
        raise MalformedError("a rescale with a batch of its own changes no files")
    version = name.batch + 1 if is_own else name.batch
    stores = tuple(_store(it, version) for it in _STORE.finditer(found[7]))
    return RescalePlan(name, int(found[3]), int(found[4]), is_undone, files, stores)


def _file(line: str) -> RewrittenFile:
    found = _FILE.fullmatch(line)
    if found is None:
        raise MalformedError(f"it cannot change a file with {line[:80]!r}")
    return RewrittenFile(found[1], _decoded(found[2]), _decoded(found[3]))


def _decoded(content: str) -> bytes | None:
    return None if content == "-" else b64decode(content, validate=True)


def _store(found: re.Match[str], version: int) -> RescaledStore:
    references, frozen = (
        tuple(line.partition(" ")[2] for line in block.split("\n")[:-1])
        for block in found.groups()[2:]
    )
    are_whole = is_store(found[2]) and all(map(is_folder, frozen))
    if not are_whole or not all(_is_reference(it, version) for it in references):
        raise MalformedError(f"store {found[1]} {found[2]!r} has a path that it cannot have")
    return RescaledStore(int(found[1]), found[2], references, frozen)


def _is_reference(path: str, version: int) -> bool:
    last = path.rpartition("/")[2]
    name = parse_name(last)
    return (
        name is not None
        and (name.version, name.kind) == (version, FileKind.REFERENCE)
        and is_file(path, last)
    )
