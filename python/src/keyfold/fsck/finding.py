"""What a check finds, and what keeps a query from starting."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from keyfold.errors import FormatVersionError, KeyfoldError


class Kind(Enum):
    """What was found, by what there is to do about it."""

    DAMAGED = "damaged"  # a file is lost, damaged or another one: restore it from a copy
    NEWER_FORMAT = "newer-format"  # a newer release of Keyfold wrote a file: use that release
    WRONG_ROWS = "wrong-rows"  # undamaged files have wrong rows: go back to a batch before them
    UNFINISHED = "unfinished"  # a rescale was begun: finish or undo it
    MOVED = "moved"  # the checkpoint was moved: start the query on a clone of it
    UNREFERENCED = "unreferenced"  # nothing needs a file or folder: a vacuum may delete it
    EXPIRED = "expired"  # retention has deleted a file, or will delete it: nothing to do


class Severity(Enum):
    """What a problem does to the query."""

    STOPS = "stops-query"  # the query cannot start
    LOSES = "loses-batch"  # it can, but not go back to some retained batch
    HARMLESS = "harmless"  # all batches can be loaded: other files have the same rows, or no rows


@dataclass(frozen=True)
class Finding:
    """One problem.

    `path` is the file or folder: in a report as users write it, before relative to the checkpoint.
    """

    kind: Kind
    path: str
    message: str
    severity: Severity = Severity.HARMLESS

    @property
    def is_damage(self) -> bool:
        """Whether state is lost or wrong, other than by retention."""
        return self.kind not in {Kind.UNREFERENCED, Kind.EXPIRED}

    def to_dict(self) -> dict[str, str]:
        """Its values as texts."""
        return {
            "kind": self.kind.value,
            "severity": self.severity.value,
            "path": self.path,
            "message": self.message,
        }


def kind_of(error: KeyfoldError) -> Kind:
    """The kind of finding for a file that cannot be read."""
    return Kind.NEWER_FORMAT if isinstance(error, FormatVersionError) else Kind.DAMAGED


@dataclass(frozen=True)
class Obstacle:
    """Something that keeps a query from starting, and what mends it without a copy.

    Attributes:
        reason: what it is, as the beginning of a sentence.
        newest: the newest batch from which the query could start in spite of it; -1: none; None: it
            is not in the way of any.
        finding: the finding about it, unless there is one already.
        deletes: files of Spark's own that it writes again once they are deleted, relative to the
            checkpoint.
        sets: a setting for the next start, without which Spark does not write them.
        undoes_rescale: whether a rescale is to be undone, before anything else can be done.
        otherwise: what mends it without any of this.
    """

    reason: str
    newest: int | None = None
    finding: Finding | None = None
    deletes: tuple[str, ...] = ()
    sets: str | None = None
    undoes_rescale: bool = False
    otherwise: str = "restore the files above from a copy"
