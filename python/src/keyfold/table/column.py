"""Columns by name, with the fields of structs behind a dot."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from keyfold.errors import UnknownNameError


def find_column(schema: pa.Schema, name: str) -> tuple[list[str], pa.DataType]:
    """The path and the type of a column; a field of `key` or `value` may be named without them.

    Raises:
        UnknownNameError: there is none, or more than one.
    """
    first, *rest = name.split(".")
    if first in schema.names:
        kind = schema.field(first).type
        for part in rest:
            if not pa.types.is_struct(kind) or kind.get_field_index(part) < 0:
                raise _unknown(schema, name)
            kind = kind.field(part).type
        return [first, *rest], kind
    inside = [
        top.name
        for top in schema
        if pa.types.is_struct(top.type) and top.type.get_field_index(first) >= 0
    ]
    if len(inside) != 1:
        raise _unknown(schema, name)
    return find_column(schema, f"{inside[0]}.{name}")


def project(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Some columns of a table, under the requested names; raises UnknownNameError."""
    columns = {}
    for name in names:
        (first, *rest), _ = find_column(table.schema, name)
        column = table.column(first)
        columns[name] = pc.struct_field(column, rest) if rest else column
    return pa.table(columns)


def flattened(table: pa.Table) -> pa.Table:
    """A table with a column for each field of a struct, such as `key.user`."""
    while any(pa.types.is_struct(it.type) and it.type.num_fields for it in table.schema):
        table = table.flatten()
    return table


def leaf_names(schema: pa.Schema) -> list[str]:
    """Names of the columns of a flattened table."""
    return list(flattened(schema.empty_table()).schema.names)


def _unknown(schema: pa.Schema, name: str) -> UnknownNameError:
    return UnknownNameError(
        f"Cannot find column {name!r}, or more than one column has that name. There are: "
        f"{', '.join(leaf_names(schema))}."
    )
