"""Checks rows by their schema: whether they can be decoded, and whether keys have their hashes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from keyfold.errors import KeyfoldError
from keyfold.format.block import Columns
from keyfold.format.footer import Family, Footer
from keyfold.format.names import Version
from keyfold.layout.layout import Layout, Shape
from keyfold.layout.layouts import layouts
from keyfold.rows.partition_key import NO_RULE, hashes_of
from keyfold.schema.data_type import as_bytes
from keyfold.spark_log.logs import OperatorMetadata
from keyfold.state.entries import Rows, rows_of_block
from keyfold.state.store_files import StoreFiles
from keyfold.state.version import load
from keyfold.storage.storage import Storage
from keyfold.subtasks.declared import SUBTASK_OF
from keyfold.wire.cursor import MalformedError

_OF_SUBTASK = ("parallelism", "max_parallelism")


@dataclass
class RowCheck:
    """Checks the rows of an operator's store, by its number."""

    storage: Storage
    operator: OperatorMetadata
    store: int

    @cached_property
    def _layouts(self) -> dict[str, Layout]:
        try:
            every = layouts(self.storage, self.operator)
        except KeyfoldError:
            # An unreadable schema is reported once, not for each row.
            return {}
        # With strings in keys as bytes, of which their hashes are.
        return {
            it.family: replace(it, schema=replace(it.schema, key=as_bytes(it.schema.key)))
            for it in every
            if it.store == self.store and it.shape is not Shape.JOIN_SIDE
        }

    def block(self, columns: Columns) -> Iterator[str]:
        """What is wrong with the entries of a block."""
        family, layout = columns.family, self._layouts.get(columns.family.name)
        if layout is None:
            return
        rows = rows_of_block(columns)
        try:
            keys = layout.key_array(rows, family)
            layout.value_array(rows, family)
            if family.partition_key == NO_RULE:
                return
            key = layout.schema.key
            found = hashes_of(family.partition_key, key, keys.flatten(), rows.count)
        except (MalformedError, KeyfoldError) as error:
            yield f"rows of family {family.name} do not fit their schema: {error}"
            return
        wrong = np.flatnonzero(found != columns.hashes)
        if len(wrong):
            yield (
                f"{len(wrong)} rows of family {family.name} have another hash than their keys, "
                f"the first {columns.hashes[wrong[0]]} and not {found[wrong[0]]}. A look-up would "
                "not find them."
            )

    def version(self, batch: int, written: Version, files: StoreFiles) -> Iterator[str]:
        """What is wrong with the rows after a batch, whose version is among the files.

        Raises KeyfoldError if they cannot be loaded.
        """
        version = load(files, written)
        for name, family in version.families.items():
            rows = version.rows(name)
            counted = (rows.count, int(rows.counts().sum()), int(rows.bytes().sum()))
            told = (family.keys, family.values, family.bytes)
            if any(one not in {None, other} for one, other in zip(told, counted, strict=True)):
                yield (
                    f"family {name} has {counted[0]} keys, {counted[1]} values and {counted[2]} "
                    f"bytes after batch {batch}; its head says {told[0]}, {told[1]} and {told[2]}."
                )
            for problem in self._wrong_subtasks(rows, family):
                yield f"{problem}, after batch {batch}. Undo what wrote it."

    def _wrong_subtasks(self, rows: Rows, family: Family) -> list[str]:
        layout = self._layouts.get(family.name)
        try:
            return [] if layout is None else list(_wrong_subtasks(layout, rows, family))
        except (MalformedError, KeyfoldError):
            # The check of the rows' file says what is wrong with them.
            return []


def misplaced(footer: Footer, columns: Columns) -> Iterator[str]:
    """Rows of a block that the partition does not own, of a family that says it has none."""
    identity, family = footer.identity, columns.family
    if identity.partitions == 0 or family.partition_key == NO_RULE or family.strays:
        return
    owners = columns.hashes.astype(np.int64) % identity.partitions
    wrong = np.flatnonzero(owners != identity.partition)
    if len(wrong):
        yield (
            f"{len(wrong)} rows of family {family.name}, the first with hash "
            f"{columns.hashes[wrong[0]]}, belong to partition {owners[wrong[0]]} of "
            f"{identity.partitions}, not to {identity.partition}. A query would not find them."
        )


def _wrong_subtasks(layout: Layout, rows: Rows, family: Family) -> Iterator[str]:
    """What is wrong with the row of a subtask: no start and no redistribution could go by it.

    docs/operator-state.md says what subtasks keep of themselves.

    Raises MalformedError if the rows do not fit the schema.
    """
    is_own = layout.family.startswith(SUBTASK_OF) and set(_OF_SUBTASK) <= set(
        layout.schema.value.names
    )
    if not is_own or "subtask" not in layout.schema.key.names:
        return
    subtasks = layout.key_array(rows, family).field("subtask").to_pylist()
    values = layout.value_array(rows, family)
    said = zip(*(values.field(it).to_pylist() for it in _OF_SUBTASK), strict=True)
    for subtask, (parallelism, most) in zip(subtasks, said, strict=True):
        if not 0 <= subtask < parallelism <= most:
            yield (
                f"subtask {subtask} says in {layout.family} that the operator has {parallelism} "
                f"subtasks, of at most {most}"
            )
