"""The rows of a state, on their way in and out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keyfold.errors import InvalidArgumentError, OperatorStateValueError
from keyfold.subtasks.converters import in_order, into, out_of
from keyfold.subtasks.values import UnfitError

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

Row = tuple[Any, ...]


class RowType:
    """What the rows of a state, or the keys of a broadcast state, must be like."""

    def __init__(self, state: str, schema: StructType) -> None:
        """`state` is the state's name in messages.

        Raises:
            InvalidArgumentError: a field has a type that a state cannot hold.
        """
        self._state, self._schema, self._names = state, schema, schema.names
        try:
            self._into = [into(it.dataType, nullable=it.nullable) for it in schema]
        except UnfitError as error:
            raise InvalidArgumentError(
                f"Invalid schema {schema.simpleString()!r} of {state}: {error}."
            ) from error
        self._out_of = [out_of(it.dataType) for it in schema]

    def into(self, row: Any) -> Row:  # noqa: ANN401 - what a user passes
        """A row as it is stored.

        Raises:
            OperatorStateValueError: it does not fit.
        """
        try:
            its = in_order(row, self._names)
        except UnfitError as error:
            raise OperatorStateValueError(
                f"Invalid row of {self._state}, which has {self._schema.simpleString()}: {error}. "
                "Nothing of this call was stored."
            ) from error
        return tuple(map(self._field, range(len(its)), its))

    def out_of(self, row: Row) -> Row:
        """A row as the user sees it."""
        return tuple(convert(value) for convert, value in zip(self._out_of, row, strict=True))

    def _field(self, index: int, value: Any) -> Any:  # noqa: ANN401
        try:
            return self._into[index](value)
        except UnfitError as error:
            field = self._schema[index]
            raise OperatorStateValueError(
                f"Invalid value in the field {field.name!r} of {self._state}, which is "
                f"{field.dataType.simpleString()}: {error}. Nothing of this call was stored."
            ) from error
