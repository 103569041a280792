"""The Avro schemas by which Spark writes rows of state (SchemaConverters.scala, with defaults).

Logical types are left out: Spark's type tells whether a number is a date or a timestamp.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from keyfold.schema.data_type import Array, Atomic, DataType, Decimal, Map, Struct
from keyfold.wire.cursor import MalformedError

_NAMES = {
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


def avro_schema(it: Struct) -> dict[str, Any]:
    """The schema of a row."""
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
                "size": _bytes_for(precision),
                "logicalType": "decimal",
                "precision": precision,
                "scale": scale,
            }
        case Atomic(name) if name in _NAMES:
            return _NAMES[name]
    raise MalformedError(f"Spark does not write {it} as Avro")


def _bytes_for(precision: int) -> int:
    """The smallest number of bytes that fits every number with so many digits."""
    most: int = 10**precision - 1
    return (most.bit_length() + 8) // 8
