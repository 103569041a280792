"""Checks one file: its footer, every block, and the partition of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from keyfold.errors import KeyfoldError
from keyfold.format.block import Columns
from keyfold.format.footer import Footer
from keyfold.format.place import StorePlace
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
        place: StorePlace,
        step: Step,
        key_groups: int | None,
        partitions_of: Callable[[int], int | None],
    ) -> None:
        self._files = files
        self._place = place
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
                yield from ((Kind.DAMAGED, it) for it in self._identity(footer))
                for columns in blocks:
                    yield from _placed(footer, columns)
                    if rows is not None:
                        yield from ((Kind.WRONG_ROWS, it) for it in rows.block(columns))
        except KeyfoldError as error:
            yield kind_of(error), str(error.args[0])

    def _identity(self, footer: Footer) -> Iterator[str]:
        """What keeps it from being the file that is needed."""
        identity, place = footer.identity, self._place
        named = self._step.reference
        partition = identity.partition if named is not None else place.partition
        found = (identity.operator, identity.partition, identity.store)
        if found != (place.operator, partition, place.store):
            yield (
                f"it says it is of operator {identity.operator} partition {identity.partition} "
                f"store {identity.store}. Restore the folder from a copy."
            )
            return
        if self._key_groups is not None and identity.key_groups != self._key_groups:
            yield (
                f"it has {identity.key_groups} key groups, the newest version has "
                f"{self._key_groups}. It is a file of another checkpoint."
            )
        expected = self._partitions_of(identity.version) if named is None else None
        if expected and identity.partitions and identity.partitions != expected:
            yield (
                f"it was written for {identity.partitions} partitions and the query had "
                f"{expected}: a rescale is unfinished, or it is of another checkpoint."
            )
        if named is not None and not named.may_have_length(footer.frame.file_length):
            yield (
                f"it has {footer.frame.file_length} bytes, and {named.length} when a rescale "
                "referred to it."
            )


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
