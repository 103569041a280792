"""Checks rows by their schema: whether they can be decoded, and whether keys have their hashes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from keyfold.errors import KeyfoldError
from keyfold.format.block import Columns
from keyfold.format.footer import Family
from keyfold.format.location import StoreLocation
from keyfold.fsck.subtasks import wrong_subtasks
from keyfold.layout.layout import Layout, Shape
from keyfold.layout.layouts import layouts
from keyfold.rows.partition_key import NO_RULE, hashes_of
from keyfold.rows.places import Places
from keyfold.schema.data_type import as_bytes
from keyfold.spark_log.batch import Batch
from keyfold.spark_log.logs import OperatorMetadata
from keyfold.state.merge import Rows
from keyfold.state.pieces import Entries, of_block, starts_of
from keyfold.state.store_files import StoreFiles
from keyfold.state.version import load
from keyfold.storage.storage import Storage
from keyfold.wire.cursor import MalformedError


class RowCheck:
    """Checks the rows of one store of one partition."""

    def __init__(
        self, storage: Storage, operator: OperatorMetadata, store: int, place: StoreLocation
    ) -> None:
        self._storage = storage
        self._operator = operator
        self._store = store
        self._place = place

    @cached_property
    def _layouts(self) -> dict[str, Layout]:
        try:
            found = layouts(self._storage, self._operator)
        except KeyfoldError:
            # An unreadable schema is reported once, not for each row.
            return {}
        return {
            it.family: _of_bytes(it)
            for it in found
            if it.store == self._store and it.shape is not Shape.JOIN_SIDE
        }

    def block(self, columns: Columns) -> Iterator[str]:
        """What is wrong with the entries of a block."""
        family, layout = columns.family, self._layouts.get(columns.family.name)
        if layout is None:
            return
        rows = _every(of_block(columns, 0))
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

    def version(self, batch: Batch, files: StoreFiles) -> Iterator[str]:
        """What is wrong with the rows of a batch's version, which is among the files.

        Raises KeyfoldError if they cannot be loaded.
        """
        written = batch.written(self._operator, self._place.partition, self._store)
        version = load(files, written)
        for name, family in version.families.items():
            rows = version.rows(name)
            values = rows.count if rows.counts is None else int(rows.counts.sum())
            found = (rows.count, values, int(rows.bytes().sum()))
            if not _agrees(family, found):
                yield (
                    f"family {name} has {found[0]} keys, {found[1]} values and {found[2]} bytes "
                    f"after batch {batch.number}; its head says {family.keys}, {family.values} and "
                    f"{family.bytes}."
                )
            for it in self._wrong_subtasks(rows, family):
                yield f"{it}, after batch {batch.number}. Undo what wrote it."

    def _wrong_subtasks(self, rows: Rows, family: Family) -> list[str]:
        layout = self._layouts.get(family.name)
        try:
            return [] if layout is None else list(wrong_subtasks(layout, rows, family))
        except (MalformedError, KeyfoldError):
            # The check of the rows' file says what is wrong with them.
            return []


def _of_bytes(it: Layout) -> Layout:
    """The same with strings in keys as bytes, of which their hashes are."""
    return replace(it, schema=replace(it.schema, key=as_bytes(it.schema.key)))


def _agrees(family: Family, found: tuple[int, int, int]) -> bool:
    said = (family.keys, family.values, family.bytes)
    return all(one is None or one == other for one, other in zip(said, found, strict=True))


def _every(entries: Entries) -> Rows:
    """Entries as rows, including those that remove a row."""
    return Rows(
        entries.hashes,
        entries.keys,
        Places.of(entries.key_starts()),
        entries.key_lengths,
        entries.values,
        Places.of(starts_of(entries.value_lengths)),
        entries.value_lengths,
        entries.value_counts,
    )
