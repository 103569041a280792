"""Arrow types and Avro schemas of Spark's types, the same as Spark's own conversions have."""

from __future__ import annotations

from itertools import count
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.schema.data_type import Array, Atomic, DataType, Decimal, Field, Map, Struct
from keyfold.wire.cursor import MalformedError

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

_AVRO_NAMES = {
    "boolean": "boolean",
    "byte": "int",
    "short": "int",
    "integer": "int",
    "long": "long",
    "float": "float",
    "double": "double",
    "string": "string",
    "binary": "bytes",
    "void": "null",
    "date": "int",
    "timestamp": "long",
    "timestamp_ntz": "long",
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


def avro_schema(it: Struct) -> dict[str, Any]:
    """The Avro schema by which Spark writes a row of state (SchemaConverters.scala, with defaults).

    Logical types are left out: Spark's type tells whether a number is a date or a timestamp.
    """
    return _record(it, count())


def range_schema(it: Struct) -> dict[str, Any]:
    """The schema of the columns that a range orders by: marker and value of each."""
    fields = [
        {"name": f"{part}{index}", "type": ["null", "bytes"]}
        for index, _ in enumerate(it.fields)
        for part in ("marker", "value")
    ]
    return {"type": "record", "name": "ordered", "fields": fields}


def _record(it: Struct, numbers: count[int]) -> dict[str, Any]:
    # Names of types do not matter here, but must be unique.
    name = f"record{next(numbers)}"
    fields = [
        {"name": field.name, "type": _nullable(_type(field.type, numbers))} for field in it.fields
    ]
    return {"type": "record", "name": name, "fields": fields}


def _nullable(schema: Any) -> Any:  # noqa: ANN401 - Avro schemas are plain JSON
    return schema if schema == "null" or isinstance(schema, list) else ["null", schema]


def _type(it: DataType, numbers: count[int]) -> Any:  # noqa: ANN401
    match it:
        case Struct():
            return ["null", _record(it, numbers)]
        case Array(element):
            return ["null", {"type": "array", "items": _type(element, numbers)}]
        case Map(Atomic("string"), value):
            return ["null", {"type": "map", "values": _type(value, numbers)}]
        case Decimal(precision, scale):
            return {
                "type": "fixed",
                "name": f"fixed{next(numbers)}",
                # As few bytes as fit every number with so many digits.
                "size": ((10**precision - 1).bit_length() + 8) // 8,
                "logicalType": "decimal",
                "precision": precision,
                "scale": scale,
            }
        case Atomic(name) if name in _AVRO_NAMES:
            return _AVRO_NAMES[name]
    raise MalformedError(f"Spark does not write {it} as Avro")
