"""Rescales before a batch that was begun and not committed: docs/FORMAT.md, section 10."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

import google_crc32c

from keyfold.errors import FileMissingError, KeyfoldError
from keyfold.format.names import parse_name
from keyfold.fsck.finding import UNREFERENCED_KINDS, Finding, Kind, Severity
from keyfold.fsck.obstacle import Obstacle
from keyfold.fsck.spark_logs import Logs
from keyfold.spark_log.logs import Commit
from keyfold.storage.storage import Storage

_PLAN = re.compile(r"rescale-(\d{1,18})-open-(\d{1,9})\.plan")
_ANY_PLAN = re.compile(r"keyfold/rescale-\d{1,18}-[0-9a-zA-Z-]+\.plan")
_CHECKSUMMED = re.compile(rb"(.*\n)crc32c ([0-9a-f]{8})\n", re.DOTALL)
# Of the version before, which its references have.
_MANIFEST = re.compile(r"rescale-(\d{1,18})-open-\d{1,9}\.manifest")


def newest_version(storage: Storage) -> int:
    """The newest version that files of an old layout may have; 0 if there is no such rescale.

    The new layout has files of the same version, and no batch names those of the old one, which it
    refers to. Maintenance deletes the plan with them. The manifest says the same if the plan is
    lost.
    """
    names = [it.name for it in storage.listing("keyfold")]
    plans = (int(it[1]) for it in map(_PLAN.fullmatch, names) if it)
    manifests = (int(it[1]) + 1 for it in map(_MANIFEST.fullmatch, names) if it)
    return max((*plans, *manifests), default=0)


def may_need(finding: Finding, newest: int) -> bool:
    """Whether the rescale may need what is found to be unreferenced: a file, or a partition."""
    if finding.kind not in UNREFERENCED_KINDS or newest == 0:
        return False
    last = finding.path.rpartition("/")[2]
    name = parse_name(last)
    return last.isdigit() if name is None else name.version <= newest


def torn_plans(storage: Storage) -> Iterator[Finding]:
    """Plans that nobody can read: commands that need them are refused."""
    for path in (f"keyfold/{it.name}" for it in storage.listing("keyfold")):
        if _ANY_PLAN.fullmatch(path) and _is_torn(_content(storage, path)):
            yield Finding(
                Kind.CHECKSUM,
                storage.full_path(path),
                "the plan of a rescale is damaged, so that rescales and their undo are refused. "
                "Restore it from a copy. If the query can start, the rescale is complete: delete "
                "the file instead; the rescale cannot be undone then.",
            )


def _is_torn(plan: bytes | None) -> bool:
    """Whether its last line is not the checksum of the others; a plan that is gone is not torn."""
    if plan is None:
        return False
    found = _CHECKSUMMED.fullmatch(plan)
    return found is None or int(found[2], 16) != google_crc32c.value(found[1])


def unfinished(storage: Storage, logs: Logs) -> tuple[Obstacle, list[Finding]] | None:
    """A rescale before the batch that was begun last which is to be finished or undone."""
    names = [it.name for it in storage.listing("keyfold")]
    plans = [it for it in map(_PLAN.fullmatch, names) if it and int(it[1]) == logs.newest]
    try:
        found = _newest(storage, sorted(plans, key=lambda it: -int(it[2])))
        if found is None:
            return None
        path, lines = found
        commit = next((it.commit for it in logs.committed if it.number == logs.newest), None)
        later = any(it.startswith(f"rescale-{logs.newest + 1}-") for it in names)
        wrong = (
            not later and _is_overtaken(lines, commit) if commit else _is_half_done(storage, lines)
        )
    except (KeyfoldError, ValueError, IndexError):
        # What a damaged plan says is not known; Keyfold ignores it when a query starts.
        return None
    if not wrong:
        return None
    reason = f"a rescale before batch {logs.newest} is not finished"
    finish = "rescale to the same number of partitions again, to finish it"
    message = f"{reason}. To go on, {finish}."
    finding = Finding(Kind.PARTITIONS, storage.full_path(path), message, Severity.STOPS)
    return Obstacle(reason, undoes_rescale=True, otherwise=finish), [finding]


def _newest(storage: Storage, plans: list[re.Match[str]]) -> tuple[str, list[list[str]]] | None:
    """Path and words of the newest plan that counts."""
    for plan in plans:
        path = f"keyfold/{plan[0]}"
        lines = [line.split(" ") for line in storage.text(path).splitlines()]
        # A rollback has made a plan without files final.
        is_final = not any(_of(lines, "file"))
        numbers = [words[1] for it in ("from", "to") for words in _of(lines, it)]
        is_redistribution = numbers[0] == numbers[1]
        is_undone = ["undone", "true"] in lines and not _is_half_done(storage, lines)
        if not (is_final or is_redistribution or is_undone):
            return path, lines
    return None


def _is_half_done(storage: Storage, lines: list[list[str]]) -> bool:
    """Whether a file of Spark's still has to be replaced."""
    is_undone = ["undone", "true"] in lines
    contents = [(words[1], words[3 if is_undone else 2]) for words in _of(lines, "file")]
    return any(_content(storage, path) == _decoded(other) for path, other in contents)


def _is_overtaken(lines: list[list[str]], commit: Commit) -> bool:
    """Whether the batch was committed by a driver that did not know of the rescale."""
    if ["undone", "true"] in lines:
        return False
    references: dict[int, int] = {}
    for words in lines:
        if words[0] == "store":
            operator = int(words[1])
            references[operator] = 0
        elif words[0] == "ref":
            references[operator] += 1
    ids = commit.ids
    return any(it in ids and len(ids[it]) != count for it, count in references.items())


def _of(lines: list[list[str]], word: str) -> Iterator[list[str]]:
    return (it for it in lines if it[0] == word)


def _content(storage: Storage, path: str) -> bytes | None:
    try:
        return storage.content(path)
    except FileMissingError:
        return None


def _decoded(text: str) -> bytes | None:
    return None if text == "-" else base64.b64decode(text, validate=True)
