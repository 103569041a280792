"""Rescales before a batch that was begun and not committed: docs/FORMAT.md, section 10."""

from __future__ import annotations

import re

from keyfold.format.names import parse_name
from keyfold.fsck.finding import UNREFERENCED_KINDS, Finding
from keyfold.storage.storage import Storage

_PLAN = re.compile(r"rescale-(\d{1,18})-open-\d{1,9}\.plan")


def newest_version(storage: Storage) -> int:
    """The newest version that files of an old layout may have; 0 if there is no such rescale.

    The new layout has files of the same version, and no batch names those of the old one, which it
    refers to. Maintenance deletes the plan with them.
    """
    names = (_PLAN.fullmatch(it.name) for it in storage.listing("keyfold"))
    return max((int(it[1]) for it in names if it), default=0)


def may_need(finding: Finding, newest: int) -> bool:
    """Whether the rescale may need what is found to be unreferenced: a file, or a partition."""
    if finding.kind not in UNREFERENCED_KINDS or newest == 0:
        return False
    last = finding.path.rpartition("/")[2]
    name = parse_name(last)
    return last.isdigit() if name is None else name.version <= newest
