"""Conditions on rows: text in Python's own notation, made into an expression of Arrow's."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from keyfold.errors import InvalidArgumentError
from keyfold.rows.literal import from_text
from keyfold.table.column import find_column

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
# What SQL has, and what stands for it here; "" if nothing does.
_OF_SQL = {
    "=": "==", "<>": "!=", "AND": "and", "OR": "or", "NOT": "not", "IN": "in", "IS": "is",
    "NULL": "None", "TRUE": "True", "FALSE": "False", "LIKE": "", "RLIKE": "", "BETWEEN": "",
}  # fmt: skip
_SQL_WORD = re.compile(
    r"<>|(?<![=<>!])=(?!=)|\b(?:and|or|not|in|is|null|true|false|r?like|between)\b", re.IGNORECASE
)
_TEXT = re.compile(r"'[^']*'|\"[^\"]*\"")


def condition(where: str | pc.Expression, schema: pa.Schema) -> pc.Expression:
    """Parses a condition such as `key.user == 42 and value.count > 3`.

    It may have `and`, `or`, `not`, comparisons, `in (...)`, `is None`, columns with the fields of
    structs behind a dot, and literals; a text is parsed by the column's type.

    Raises:
        InvalidArgumentError: it cannot be parsed.
        UnknownNameError: it names an unknown column.
    """
    if isinstance(where, pc.Expression):
        return where
    try:
        where = where.strip()
        tree = ast.parse(where, mode="eval")
    except SyntaxError as error:
        raise _refused(where, _instead(where)) from error
    return _Reader(where, schema).boolean(tree.body)


def _instead(where: str) -> str:
    """What to write for the first word or sign of SQL outside of texts."""
    outside = _TEXT.sub("", where)
    for found in _SQL_WORD.finditer(outside):
        python = _OF_SQL[found[0].upper()]
        if found[0] != python:
            return f": write {python} for {found[0]}" if python else f": there is no {found[0]}"
    return ""


def _refused(where: str, why: str = "") -> InvalidArgumentError:
    return InvalidArgumentError(
        f"Cannot understand the condition {where!r}{why}. Write for example: "
        "key.user == 42 and (value.count > 3 or value.last is None)."
    )


class _Reader:
    def __init__(self, text: str, schema: pa.Schema) -> None:
        self._text = text
        self._schema = schema

    def boolean(self, node: ast.expr) -> Any:  # noqa: ANN401 - pyarrow is not typed
        match node:
            case ast.BoolOp(op, values):
                join = operator.and_ if isinstance(op, ast.And) else operator.or_
                return reduce(join, map(self.boolean, values))
            case ast.UnaryOp(ast.Not(), operand):
                return ~self.boolean(operand)
            case ast.Compare():
                return self._compared(node)
            case ast.Name() | ast.Attribute():
                return self._column(node)[0]
        raise self._refused(node)

    def _refused(self, node: ast.expr) -> InvalidArgumentError:
        return _refused(
            self._text, f": {ast.get_source_segment(self._text, node)!r} is no condition"
        )

    def _compared(self, node: ast.Compare) -> Any:  # noqa: ANN401
        sides = pairwise([node.left, *node.comparators])
        pairs = [
            self._pair(left, op, right) for (left, right), op in zip(sides, node.ops, strict=True)
        ]
        return reduce(operator.and_, pairs)

    def _pair(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Any:  # noqa: ANN401
        if self._is_column(right) and not self._is_column(left):
            turned = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
            return self._pair(right, turned.get(type(op), type(op))(), left)
        field, kind = self._column(left)
        if self._is_column(right) and type(op) in _COMPARE:
            return _COMPARE[type(op)](field, self._column(right)[0])
        value = self._literal(right)
        if isinstance(op, ast.Is | ast.IsNot):
            if value is not None:
                raise _refused(self._text)
            return field.is_null() if isinstance(op, ast.Is) else field.is_valid()
        if isinstance(op, ast.In | ast.NotIn):
            values = pa.concat_arrays([self._scalar(each, kind) for each in value])
            is_in = field.isin(values)
            return is_in if isinstance(op, ast.In) else ~is_in
        if type(op) not in _COMPARE:
            raise _refused(self._text)
        return _COMPARE[type(op)](field, pc.scalar(self._scalar(value, kind)[0]))

    def _scalar(self, value: object, kind: pa.DataType) -> pa.Array:
        try:
            if isinstance(value, str) and not pa.types.is_string(kind):
                return from_text(value, kind)
            if isinstance(value, float) and not pa.types.is_floating(kind):
                return pa.array([value])
            return pa.array([value], kind)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise InvalidArgumentError(
                f"Invalid value {value!r} in the condition {self._text!r}: it is not of type "
                f"{kind}."
            ) from error

    def _literal(self, node: ast.expr) -> Any:  # noqa: ANN401
        try:
            return ast.literal_eval(node)
        except ValueError as error:
            part = ast.get_source_segment(self._text, node)
            raise _refused(self._text, f": {part!r} is neither a column nor a value") from error

    @staticmethod
    def _is_column(node: ast.expr) -> bool:
        return isinstance(node, ast.Name | ast.Attribute)

    def _column(self, node: ast.expr) -> tuple[pc.Expression, pa.DataType]:
        if not self._is_column(node):
            raise _refused(self._text)
        path, kind = find_column(self._schema, ast.unparse(node))
        return pc.field(*path), kind
