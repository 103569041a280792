"""What findings come to: whether the query can start, and how to go back if it cannot."""

from __future__ import annotations

import shlex
from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """Whether a query can start from its checkpoint.

    Attributes:
        can_start: whether all that Spark needs for its next batch is there and undamaged.
        last_batch: the last committed batch; None if there is none.
        newest_good: the newest batch whose state is whole in every partition; None if there is
            none, or if a file of Spark's own is damaged that going back does not replace.
        lost: how many retained batches cannot be gone back to any more.
        begun: the batch after the last, if it was begun and its entry in the offset log is damaged.
        command: the command line that makes `newest_good` the last batch; None if the query can
            start, or no batch is left.
    """

    can_start: bool
    last_batch: int | None
    newest_good: int | None
    lost: int
    command: str | None
    begun: int | None = None

    def __str__(self) -> str:
        """Sentences for a terminal."""
        if self.last_batch is None:
            return "No batch is committed yet."
        older = "1 older batch" if self.lost == 1 else f"{self.lost:,} older batches"
        if self.can_start:
            lost = f"; {older} cannot be loaded" if self.lost else ""
            return f"The query can start: batch {self.last_batch}, its last, is whole{lost}."
        damaged = (
            f"Batch {self.last_batch}, the last, is damaged: the query cannot start, or would go "
            "on with wrong rows. Restore the files above from a copy"
            if self.begun is None
            else f"Batch {self.begun} was begun, and its entry in the offset log is damaged: the "
            "query cannot start. Restore the files above from a copy"
        )
        if self.command is not None:
            return (
                f"{damaged}, or go back to batch {self.newest_good}, the newest that is whole in "
                "all partitions. Later batches are computed again, and the sink gets their rows "
                f"again:\n{self.command}"
            )
        return (
            f"{damaged}, or start with a new checkpoint location: no batch is left to go back to."
        )


def verdict(
    root: str, batches: list[int], bad: set[int], *, stopped: bool, begun: int | None
) -> Verdict:
    """The verdict.

    Args:
        root: the checkpoint.
        batches: committed batches, ascending.
        bad: those that cannot be loaded.
        stopped: whether something else keeps the query from starting, which going back does not
            mend.
        begun: the batch after the last, if its entry in the offset log is damaged.
    """
    last = max(batches, default=None)
    lost = len(bad)
    if last is None or (last not in bad and not stopped and begun is None):
        return Verdict(last is None or not stopped, last, last, lost, None)
    newest = None if stopped else max((it for it in batches if it not in bad), default=None)
    command = None
    if newest is not None:
        command = shlex.join(["keyfold", "rollback", root, "--to-batch", str(newest), "--apply"])
    return Verdict(
        can_start=False,
        last_batch=last,
        newest_good=newest,
        lost=lost,
        command=command,
        begun=None if last in bad else begun,
    )
