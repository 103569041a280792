"""What a write would change in a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.table.changes import Change, diff_schema
from keyfold.table.state_table import StateTable
from keyfold.text.arrow_values import to_pylist

ROW_KEY = ("key", "user_map_key")
"""Columns that name a row, of which only maps have the second."""


def edits(table: StateTable, put: pa.Table | None, delete: pa.Table | None) -> pa.Table:
    """The rows that would be inserted, updated and deleted; each key is looked up.

    Args:
        table: the table.
        put: rows to put, with its columns.
        delete: keys of rows to delete.

    Returns:
        Columns as those of `StateTable.diff`.
    """
    found = [
        row
        for rows, is_delete in ((put, False), (delete, True))
        for given in ([] if rows is None else to_pylist(rows))
        for row in _edit(table, given, is_delete=is_delete)
    ]
    return pa.Table.from_pylist(found, diff_schema(table.schema))


def _edit(
    table: StateTable, given: Mapping[str, Any], *, is_delete: bool
) -> Iterator[dict[str, Any]]:
    names = [it for it in table.schema.names if it not in (*ROW_KEY, "partition_id")]
    key = {it: given[it] for it in ROW_KEY if it in table.schema.names}
    rows = to_pylist(table.get(given["key"]))
    old = next((it for it in rows if all(it[name] == key[name] for name in key)), None)
    if is_delete:
        change = Change.DELETED
        if old is None:
            return
    elif old is None:
        change = Change.INSERTED
    elif all(old[name] == given[name] for name in names):
        return
    else:
        change = Change.UPDATED
    before = {f"before_{name}": old[name] for name in names} if old else {}
    after = {} if is_delete else {f"after_{name}": given[name] for name in names}
    partition = {"partition_id": old["partition_id"]} if old else {}
    yield {"change": change.value, **key, **before, **after, **partition}
