"""Checks what `with_operator_state` is given."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any, Final

from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from keyfold.errors import InvalidArgumentError
from keyfold.subtasks.function import OperatorFunction

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
    kinds = {it.name: it.dataType.typeName() for it in df.schema}
    if route is not None and kinds.get(route) not in {"byte", "short", "integer", "long"}:
        raise InvalidArgumentError(
            f"Invalid route {route!r}: must be a column of integers, one of {sorted(kinds)}."
        )


def schema_of(what: str, ddl: str) -> StructType:
    """A schema, of DDL.

    Raises:
        InvalidArgumentError: it is none, or has no columns; the message says of `what`.
    """
    try:
        found = StructType.fromDDL(ddl)
    except PySparkException as error:
        reason = str(error).strip().split("\n", 1)[0]
        raise InvalidArgumentError(f"Invalid schema {ddl!r} of {what}: {reason}") from error
    if not isinstance(found, StructType) or not found.fields:
        raise InvalidArgumentError(
            f"Invalid schema {ddl!r} of {what}: must have columns, such as 'device string, v int'."
        )
    return found
