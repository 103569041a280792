"""Checks what `with_operator_state` is given, and the schemas of states."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any, Final

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructField, StructType

from keyfold.errors import InvalidArgumentError
from keyfold.subtasks.function import OperatorFunction

_MARK: Final = "spark.watermarkDelayMs"
"""Metadata of a column, by which Spark knows to which one a watermark belongs."""

_NAME: Final = re.compile(r"[A-Za-z]\w*", re.ASCII)


def check_input(df: Any) -> None:  # noqa: ANN401 - a user passes it
    """Raises InvalidArgumentError unless it is a streaming DataFrame."""
    if not isinstance(df, DataFrame):
        raise InvalidArgumentError(f"Invalid DataFrame {df!r}: must be a DataFrame.")
    if not df.isStreaming:
        raise InvalidArgumentError("Invalid DataFrame: must be streaming, and is a batch.")


def check_function(function: Any) -> None:  # noqa: ANN401 - a user passes it
    """Raises InvalidArgumentError unless it is a function that each subtask can get a copy of."""
    if not isinstance(function, OperatorFunction):
        raise InvalidArgumentError(
            f"Invalid function {function!r}: must be an instance of a subclass of OperatorFunction."
        )
    if (why := _why_not_copied(function)) is not None:
        its = vars(function).items()
        first = next((name for name, it in its if _why_not_copied(it) is not None), None)
        what = "it" if first is None else f"its attribute {first!r}"
        raise InvalidArgumentError(
            f"Invalid function {type(function).__name__}: each subtask gets a copy, and {what} "
            f"cannot be copied: {why}. Make it in open, which each subtask calls."
        ) from why


def _why_not_copied(it: object) -> Exception | None:
    dumps: Callable[[object], bytes] = cloudpickle.dumps
    try:
        # Spark copies it to the workers, and the worker to subtasks.
        dumps(it)
        copy.deepcopy(it)
    except Exception as error:  # noqa: BLE001 - an object can raise anything
        return error
    return None


def check_name(name: str) -> None:
    """Raises InvalidArgumentError unless it can be an operator's name."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidArgumentError(
            f"Invalid name {name!r}: must be letters, digits and underscores, a letter first."
        )


def check_route(df: DataFrame, route: str | None) -> None:
    """Raises InvalidArgumentError unless it is None or a column of integers."""
    integers = {"byte", "short", "integer", "long"}
    its = [it.name for it in df.schema if it.dataType.typeName() in integers]
    if route is not None and route not in its:
        raise InvalidArgumentError(
            f"Invalid route {route!r}: must be a column of integers, one of {its}."
        )


def with_event_time(output: StructType, column: str | None, df: DataFrame) -> StructType:
    """The output's schema, with the watermark of a DataFrame on a column, if there is one.

    Raises:
        InvalidArgumentError: it is no column of timestamps, or the DataFrame has no watermark.
    """
    if column is None:
        return output
    times = [it.name for it in output if it.dataType.typeName() in {"timestamp", "timestamp_ntz"}]
    if column not in times:
        raise InvalidArgumentError(
            f"Invalid event_time {column!r}: must be a column of timestamps of the output, one of "
            f"{times}."
        )
    delays = [it.metadata[_MARK] for it in df.schema if _MARK in it.metadata]
    if not delays:
        raise InvalidArgumentError(
            f"Invalid event_time {column!r}: the DataFrame has no column with a watermark. Call "
            "withWatermark first, and keep its column."
        )
    marked = {column: {_MARK: max(delays)}}
    return StructType(
        [StructField(it.name, it.dataType, it.nullable, marked.get(it.name)) for it in output]
    )


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
