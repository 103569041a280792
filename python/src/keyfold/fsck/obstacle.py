"""What keeps a query from starting, beside damage to the state of its last batch."""

from __future__ import annotations

from dataclasses import dataclass

from keyfold.fsck.finding import Finding


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
