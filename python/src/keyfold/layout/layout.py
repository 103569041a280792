"""Presents the rows of a column family as Spark's `statestore` source does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.format.footer import Family
from keyfold.rows.arrow import arrow_ints, arrow_offsets, ends_of, offsets_of, placed
from keyfold.rows.avro_row import avro_column
from keyfold.rows.keys import key_columns
from keyfold.rows.unsafe_row import as_struct, struct_array
from keyfold.schema.arrow_type import arrow_type
from keyfold.schema.data_type import Atomic, DataType, Struct
from keyfold.schema.schema_file import FamilySchema
from keyfold.state.entries import Rows

_AVRO = "avro"


class Shape(Enum):
    """What users see in a family."""

    ROWS = "rows"
    LIST = "list"
    MAP = "map"
    TIMERS = "timers"
    JOIN_SIDE = "join side"


@dataclass(frozen=True)
class Layout:
    """The columns of a table, and how to make them from rows.

    `name` is what users call it; `store` the number of the operator's store that has `family`;
    rows may have been written with any of `versions`, and the columns are those of `schema`.
    Lists and maps have a row for each element if `flat`, else one for each key. `listed` shows
    all values of a key in one row, in families of other shapes that have several.
    """

    name: str
    store: int
    family: str
    shape: Shape
    schema: FamilySchema
    versions: Sequence[FamilySchema]
    flat: bool = True
    listed: bool = False

    @property
    def key(self) -> Struct:
        """The type of the key column."""
        key = self.schema.key
        match self.shape:
            case Shape.MAP | Shape.TIMERS:
                first = key[0]
                assert isinstance(first, Struct)  # noqa: S101 - Spark makes it so
                return first
            case Shape.JOIN_SIDE:
                return key.take(range(len(key.fields) - 1))
        return key

    @property
    def arrow(self) -> pa.Schema:
        """The columns."""
        fields = [pa.field("key", arrow_type(self.key))]
        value = arrow_type(self._value)
        match self.shape:
            case Shape.TIMERS:
                fields.append(pa.field("expiration_timestamp_ms", pa.int64()))
            case Shape.LIST if self.flat:
                fields.append(pa.field("list_element", value))
            case Shape.LIST:
                fields.append(pa.field("list_value", pa.list_(pa.field("element", value))))
            case Shape.MAP if self.flat:
                user_key = arrow_type(self.schema.key[1])
                fields += [pa.field("user_map_key", user_key), pa.field("user_map_value", value)]
            case Shape.MAP:
                user_key = arrow_type(self.schema.key[1])
                fields.append(pa.field("map_value", pa.map_(user_key, value)))
            case _:
                several = pa.list_(pa.field("element", value))
                fields.append(pa.field("value", several if self.listed else value))
        if self._has_matched:
            several = pa.list_(pa.field("element", pa.bool_()))
            fields.append(pa.field("matched", several if self.listed else pa.bool_()))
        return pa.schema([*fields, pa.field("partition_id", pa.int32())])

    def table(self, rows: Rows, family: Family, partition: int) -> pa.Table:
        """Rows as a table; raises MalformedError if they do not fit the schema."""
        key = self.key_array(rows, family)
        values = self.value_array(rows, family)
        matched = None
        if self._has_matched:
            *shown, matched = values.flatten()
            values = as_struct(shown, self._value, len(values))
        match self.shape:
            case Shape.TIMERS:
                parts = key.flatten()
                columns = [parts[0], parts[1]]
            case Shape.MAP if self.flat:
                columns = [*key.flatten(), values]
            case Shape.MAP:
                grouping, user_key = key.flatten()
                order, offsets = map_offsets(rows)
                of_map = self.arrow.field("map_value").type
                maps = pa.MapArray.from_arrays(
                    offsets, user_key.take(order), values.take(order), of_map
                )
                columns = [grouping.take(order.take(offsets[:-1])), maps]
            case Shape.LIST if not self.flat:
                columns = [key, _lists(rows, values, self.arrow.field("list_value").type)]
            case _:
                if self.shape is Shape.JOIN_SIDE:
                    key = as_struct(key.flatten()[:-1], self.key, len(key))
                if self.listed:
                    columns = [key, _lists(rows, values, self.arrow.field("value").type)]
                else:
                    columns = [_repeated(key, rows), values]
        if matched is not None and self.listed:
            matched = _lists(rows, matched, self.arrow.field("matched").type)
        if matched is not None:
            columns.append(matched)
        where = arrow_ints(np.full(len(columns[0]), partition, dtype=np.int32))
        return pa.Table.from_arrays([*columns, where], schema=self.arrow)

    def key_array(self, rows: Rows, family: Family) -> pa.Array:
        """The stored keys, one struct each."""
        if family.row_encoding == _AVRO:
            written = {it.key_id: it.key for it in self.versions}
            return avro_column(rows.keys, written, self.versions[-1].key, family.key_encoding)
        columns = key_columns(*placed(rows.keys), family.key_encoding, self.schema.key)
        return as_struct(columns, self.schema.key, rows.count)

    def value_array(self, rows: Rows, family: Family) -> pa.Array:
        """All values as they are stored, row after row."""
        stored = rows.values.flatten()
        if family.row_encoding == _AVRO:
            written = {it.value_id: it.value for it in self.versions}
            return avro_column(stored, written, self.schema.value)
        return struct_array(*placed(stored), self.schema.value)

    @property
    def _value(self) -> Struct:
        """The value column, of a join's side without its flag."""
        value = self.schema.value
        return value.take(range(len(value.fields) - 1)) if self._has_matched else value

    @property
    def _has_matched(self) -> bool:
        """Whether rows have the flag of a join's side, a column of its own."""
        value = self.schema.value
        last: DataType = value[-1] if value.fields else Atomic("void")
        is_flag = last == Atomic("boolean") and value.names[-1] == "matched"
        return self.shape is Shape.JOIN_SIDE and is_flag


def _lists(rows: Rows, values: pa.Array, it: pa.DataType) -> pa.Array:
    return pa.ListArray.from_arrays(arrow_offsets(offsets_of(rows.values)), values, it)


def _repeated(key: pa.Array, rows: Rows) -> pa.Array:
    """The key of each value."""
    if len(rows.values.values) == rows.count:
        return key
    return key.take(arrow_ints(np.repeat(np.arange(rows.count), rows.counts())))


def map_offsets(rows: Rows) -> tuple[pa.Array, pa.Array]:
    """An order that groups rows by grouping key, and the offset of each key's first row.

    The last offset is the number of rows. Keys are encoded `prefix:1`: length and bytes of the
    grouping key come first.
    """
    groups: dict[bytes, list[int]] = {}
    for index, key in enumerate(rows.keys.to_pylist()):
        size = int.from_bytes(key[:4], "little")
        groups.setdefault(key[4 : 4 + size], []).append(index)
    order = [index for group in groups.values() for index in group]
    counts = np.array([len(group) for group in groups.values()], dtype=np.int64)
    return arrow_ints(np.array(order, dtype=np.int64)), arrow_offsets(ends_of(counts))
