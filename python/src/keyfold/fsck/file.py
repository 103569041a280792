"""Checks one file: its footer, every block, and the partition of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from keyfold.errors import KeyfoldError
from keyfold.format.block import Columns
from keyfold.format.footer import Footer
from keyfold.format.reader import stream_columns
from keyfold.fsck.finding import Kind, kind_of
from keyfold.fsck.rows import RowCheck
from keyfold.rows.partition_key import NO_RULE
from keyfold.state.chain import Step
from keyfold.state.store_files import StoreFiles


class FileCheck:
    """One file that a retained batch needs. `run` sets `size`, in bytes."""

    def __init__(
        self,
        files: StoreFiles,
        step: Step,
        key_groups: int | None,
        partitions_of: Callable[[int], int | None],
    ) -> None:
        self._files = files
        self._step = step
        self._key_groups = key_groups
        self._partitions_of = partitions_of
        self.size = 0

    def run(self, rows: RowCheck | None) -> Iterator[tuple[Kind, str]]:
        """Checks the file; also its rows by their schema if `rows` is given."""
        try:
            with self._files.open(self._step.path) as file:
                self.size = file.size
                footer, blocks = stream_columns(file)
                self._step.check(
                    self._files, footer, self._key_groups or footer.identity.key_groups
                )
                yield from self._partitions(footer)
                for columns in blocks:
                    yield from _placed(footer, columns)
                    if rows is not None:
                        yield from ((Kind.WRONG_ROWS, it) for it in rows.block(columns))
        except KeyfoldError as error:
            yield kind_of(error), str(error.args[0])

    def _partitions(self, footer: Footer) -> Iterator[tuple[Kind, str]]:
        its = footer.identity
        expected = None if self._step.reference else self._partitions_of(its.version)
        if expected and its.partitions and its.partitions != expected:
            message = (
                f"it was written for {its.partitions} partitions and the query had {expected}: a "
                "rescale is unfinished, or it is of another checkpoint."
            )
            yield Kind.DAMAGED, message


def _placed(footer: Footer, columns: Columns) -> Iterator[tuple[Kind, str]]:
    """Finds rows that the partition does not own, of families that say that there are none."""
    identity, family = footer.identity, columns.family
    if identity.partitions == 0 or family.partition_key == NO_RULE or family.strays:
        return
    found = columns.hashes.astype(np.int64) % identity.partitions
    wrong = np.flatnonzero(found != identity.partition)
    if len(wrong):
        message = (
            f"{len(wrong)} rows of family {columns.family.name}, the first with hash "
            f"{columns.hashes[wrong[0]]}, belong to partition {found[wrong[0]]} of "
            f"{identity.partitions}, not to {identity.partition}. A query would not find them."
        )
        yield Kind.WRONG_ROWS, message
