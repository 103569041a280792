"""Arrow types of Spark's types, the same as Spark's own conversion has."""

from __future__ import annotations

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.schema.data_type import Array, Atomic, DataType, Decimal, Field, Map, Struct

_ATOMIC = {
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    # pyarrow has no interval of months, so this is the number of months.
    "year_month": pa.int32(),
    "day_time": pa.duration("us"),
    "time": pa.time64("ns"),
    "interval": pa.month_day_nano_interval(),
    "string": pa.string(),
    "binary": pa.binary(),
    "variant": pa.struct([("value", pa.binary()), ("metadata", pa.binary())]),
    "void": pa.null(),
}


def arrow_type(it: DataType) -> pa.DataType:
    """The Arrow type of a Spark type."""
    match it:
        case Atomic(name):
            return _ATOMIC[name]
        case Decimal(precision, scale):
            return pa.decimal128(precision, scale)
        case Struct(fields):
            return pa.struct([arrow_field(field) for field in fields])
        case Array(element, nullable):
            return pa.list_(pa.field("element", arrow_type(element), nullable))
        case Map(key, value, nullable):
            return pa.map_(
                pa.field("key", arrow_type(key), nullable=False),
                pa.field("value", arrow_type(value), nullable),
            )


def arrow_field(it: Field) -> pa.Field:
    """The Arrow field of a column."""
    return pa.field(it.name, arrow_type(it.type), it.nullable)
