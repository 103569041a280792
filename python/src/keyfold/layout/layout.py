"""Presents the rows of a column family as Spark's `statestore` source does."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.format.footer import Family
from keyfold.layout.shape import map_offsets
from keyfold.rows.arrow import arrow_ints, arrow_offsets
from keyfold.rows.avro_row import AvroRows
from keyfold.rows.keys import key_columns
from keyfold.rows.unsafe_row import as_struct, struct_array
from keyfold.schema.arrow_type import arrow_type
from keyfold.schema.data_type import Atomic, DataType, Struct
from keyfold.schema.schema_file import FamilySchema
from keyfold.state.merge import Rows

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

    `name` is what users call it; `store` the number of the operator's store that has `family`.
    Lists and maps have a row for each element if `flat`, else one for each key. `listed` shows
    all values of a key in one row, in families of other shapes that have several.
    """

    name: str
    store: int
    family: str
    shape: Shape
    schema: FamilySchema
    rows: AvroRows | None = None
    avro_keys: AvroRows | None = None
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
        return pa.schema([*fields, pa.field("partition_id", pa.int32())])

    def table(self, rows: Rows, family: Family, partition: int) -> pa.Table:
        """Rows as a table; raises MalformedError if they do not fit the schema."""
        key = self.key_array(rows, family)
        values = self.value_array(rows, family)
        counts = rows.counts
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
                    columns = [key if counts is None else _repeated(key, rows), values]
        where = arrow_ints(np.full(len(columns[0]), partition, dtype=np.int32))
        return pa.Table.from_arrays([*columns, where], schema=self.arrow)

    def key_array(self, rows: Rows, family: Family) -> pa.Array:
        """The stored keys, one struct each."""
        data, encoding, it = rows.key_data, family.key_encoding, self.schema.key
        if family.row_encoding == _AVRO and self.avro_keys is not None:
            return self.avro_keys.keys(data, rows.keys, rows.key_sizes, encoding)
        columns = key_columns(data, rows.keys, rows.key_sizes, encoding, it)
        return as_struct(columns, it, rows.count)

    def value_array(self, rows: Rows, family: Family) -> pa.Array:
        """All values, row after row."""
        data, places, sizes = rows.value_data, rows.values, rows.value_sizes
        if family.row_encoding == _AVRO and self.rows is not None:
            found = self.rows.values(data, places, sizes)
        else:
            found = struct_array(data, places, sizes, self.schema.value)
        if self._value == self.schema.value:
            return found
        return as_struct(found.flatten()[:-1], self._value, len(found))

    @property
    def _value(self) -> Struct:
        """The value column; a join's side is shown without its `matched` flag."""
        value = self.schema.value
        last: DataType = value[-1] if value.fields else Atomic("void")
        if (
            self.shape is Shape.JOIN_SIDE
            and value.names[-1] == "matched"
            and last == Atomic("boolean")
        ):
            return value.take(range(len(value.fields) - 1))
        return value


def _counts(rows: Rows) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.ones(rows.count, dtype=np.int64) if rows.counts is None else rows.counts


def _lists(rows: Rows, values: pa.Array, it: pa.DataType) -> pa.Array:
    offsets = arrow_offsets(np.concatenate(([0], np.cumsum(_counts(rows)))))
    return pa.ListArray.from_arrays(offsets, values, it)


def _repeated(key: pa.Array, rows: Rows) -> pa.Array:
    return key.take(arrow_ints(np.repeat(np.arange(rows.count), _counts(rows))))
