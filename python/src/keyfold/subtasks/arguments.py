"""Checks what `with_operator_state` is given."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any, Final

from pyspark import cloudpickle
from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

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
