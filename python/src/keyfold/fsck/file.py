"""Checks one file: its footer, every block, and the partition of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

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


@dataclass
class FileCheck:
    """One file that a retained batch needs.

    Attributes:
        files: those of its store.
        step: the file.
        key_groups: number of the newest version's; None if that is not known.
        partitions_of: the number that the query had when it made a version, if it is known.
        size: in bytes, once the file was opened.
    """

    files: StoreFiles
    step: Step
    key_groups: int | None
    partitions_of: Callable[[int], int | None]
    size: int = 0

    def run(self, rows: RowCheck | None) -> Iterator[tuple[Kind, str]]:
        """Checks the file; also its rows by their schema if `rows` is given."""
        try:
            with self.files.open(self.step.path) as file:
                self.size = file.size
                footer, blocks = stream_columns(file)
                its = footer.identity
                self.step.check(self.files, footer, self.key_groups or its.key_groups)
                expected = None if self.step.reference else self.partitions_of(its.version)
                if expected and its.partitions and its.partitions != expected:
                    message = (
                        f"it was written for {its.partitions} partitions and the query had "
                        f"{expected}: a rescale is unfinished, or it is of another checkpoint."
                    )
                    yield Kind.DAMAGED, message
                for columns in blocks:
                    yield from _placed(footer, columns)
                    if rows is not None:
                        yield from ((Kind.WRONG_ROWS, it) for it in rows.block(columns))
        except KeyfoldError as error:
            yield kind_of(error), str(error.args[0])


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
