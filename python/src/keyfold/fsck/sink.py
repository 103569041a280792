"""Whether a query writes to a file sink, as its start has noted (docs/FORMAT.md, section 12)."""

from __future__ import annotations

import re

from keyfold.errors import FileMissingError
from keyfold.fsck.finding import Finding, Kind, Severity
from keyfold.fsck.obstacle import Obstacle
from keyfold.storage.storage import Storage

_PLACE = "keyfold/sink"
_CONTENT = re.compile(rb"v1\n(file|other) -?\d{1,18}")


def writes_files(storage: Storage) -> bool:
    """Whether it last started with a file sink; False if that is not known."""
    return (_content(storage) or b"").startswith(b"v1\nfile ")


def torn_note(storage: Storage) -> tuple[Obstacle, list[Finding]] | None:
    """What is wrong with the note; None if nothing is, or if there is none."""
    content = _content(storage)
    if content is None or _CONTENT.fullmatch(content):
        return None
    path = storage.full_path(_PLACE)
    reason = "the note of the query's sink is damaged"
    message = (
        f"{reason}. Restore it from a copy. Or delete it, if the query has had the same sink ever "
        "since it last went back to an earlier batch; if not, write to a new folder after that."
    )
    found = [Finding(Kind.METADATA, path, message, Severity.STOPS)]
    otherwise = (
        "restore its file from a copy, or, if the query has had another kind of sink since it last "
        "went back to an earlier batch, delete it and let the query write to a new folder"
    )
    return Obstacle(reason, deletes=(path,), otherwise=otherwise), found


def _content(storage: Storage) -> bytes | None:
    if all(it.name != "sink" for it in storage.listing("keyfold")):
        return None
    try:
        return storage.content(_PLACE)
    except FileMissingError:
        return None
