"""The schemas that a user gives, of an operator's output and of its states."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from keyfold.errors import InvalidArgumentError


def schema_of(what: str, given: str | StructType) -> StructType:
    """A schema, of DDL or of a StructType without its metadata.

    Raises:
        InvalidArgumentError: it is none, has no columns, or two of one name in one struct; the
            message says of `what`.
    """
    try:
        found = StructType.fromDDL(given) if isinstance(given, str) else given
    except PySparkException as error:
        raise _invalid(what, given, str(error).strip().split("\n", 1)[0]) from error
    if not isinstance(found, StructType) or not found.fields:
        raise _invalid(what, given, "must have columns, such as 'device string, v int'.")
    for it in _within(found):
        if isinstance(it, StructType) and len(set(it.names)) < len(it.names):
            raise _invalid(what, given, f"has a name twice, in {it.simpleString()}.")
    if isinstance(given, str):
        return found
    # A column of a DataFrame's schema may say that it has a watermark.
    return StructType([StructField(it.name, it.dataType, it.nullable) for it in found])


def stored_schema(what: str, given: str | StructType) -> StructType:
    """A schema that Spark can keep in the checkpoint, where it is one of Avro.

    Raises:
        InvalidArgumentError: as `schema_of`, or Avro has no such name, or no such map.
    """
    found = schema_of(what, given)
    for it in _within(found):
        for name in it.names if isinstance(it, StructType) else []:
            if not _is_avro_name(name):
                said = "must be letters, digits and underscores, no digit first"
                raise _invalid(what, given, f"the name {name!r} {said}.")
        if isinstance(it, MapType) and not isinstance(it.keyType, StringType):
            said = "a state has maps with keys of type string alone"
            raise _invalid(what, given, f"{said}, not {it.simpleString()}.")
    return found


def arrow_schema(what: str, schema: StructType) -> pa.Schema:
    """For Arrow; Spark takes timestamps of any time zone. Spark 4.0 and 4.1 have UTC only.

    Raises:
        InvalidArgumentError: Arrow has no such type.
    """
    takes_zone = "timezone" in signature(to_arrow_schema).parameters
    zone: dict[str, Any] = {"timezone": "UTC"} if takes_zone else {}
    try:
        return to_arrow_schema(schema, **zone)
    except PySparkException as error:
        raise _invalid(what, schema.simpleString(), f"{error}") from error


def _within(kind: DataType) -> Iterator[DataType]:
    """A type and all types in it."""
    yield kind
    parts: list[DataType] = []
    if isinstance(kind, StructType):
        parts = [it.dataType for it in kind]
    elif isinstance(kind, ArrayType):
        parts = [kind.elementType]
    elif isinstance(kind, MapType):
        parts = [kind.keyType, kind.valueType]
    for it in parts:
        yield from _within(it)


def _is_avro_name(name: str) -> bool:
    """Avro asks Java, whose digits are the decimal ones."""
    return not name[:1].isdecimal() and all(
        it == "_" or it.isalpha() or it.isdecimal() for it in name
    )


def _invalid(what: str, given: object, why: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"Invalid schema {given!r} of {what}: {why}")
