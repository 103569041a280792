"""The tables that an operator's stores hold, by the kind of the operator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from keyfold.format.names import DEFAULT_STORE
from keyfold.layout.layout import Layout, Shape
from keyfold.schema.data_type import Atomic, Struct
from keyfold.schema.schema_file import DEFAULT_FAMILY, FamilySchema, read_state_schema, schema_paths
from keyfold.spark_log.logs import OperatorMetadata, former_variables
from keyfold.storage.storage import Storage

_JOIN_VALUES = re.compile(r"(left|right)-(?:keyWithIndexToValue|keyWithTsToValues)")
_SHAPES = {
    "ValueState": Shape.ROWS,
    "ListState": Shape.LIST,
    "MapState": Shape.MAP,
    "TimerState": Shape.TIMERS,
}
_TIMERS = "timers"
_GROUPS = ("flatMapGroupsWithState", "applyInPandasWithState")
# How Spark describes the time of a timeout in state of format 1. The rows have a long.
_TIMEOUT = ("timeoutTimestamp", Atomic("integer"))


def layouts(storage: Storage, operator: OperatorMetadata) -> list[Layout]:
    """The tables of an operator: first those of its users, then Spark's internal ones.

    Raises:
        FileMissingError: a schema file does not exist.
        CheckpointDamagedError: a schema file cannot be parsed.
    """
    found: list[Layout] = []
    storage.fetch(it for store in operator.stores for it in schema_paths(operator.id, store))
    schemas = [read_state_schema(storage, operator.id, store) for store in operator.stores]
    kinds = dict(operator.variables)
    if kinds:
        every = {family for schema in schemas for family in schema}
        removed = [it for it in every - {*kinds, DEFAULT_FAMILY} if not it.startswith("$")]
        kinds = former_variables(storage, operator.id, removed) | kinds if removed else kinds
    shapes = {name: _SHAPES.get(kind, Shape.ROWS) for name, kind in kinds.items()}
    for number, (store, schema) in enumerate(zip(operator.stores, schemas, strict=True)):
        for family, versions in schema.items():
            name = family if store.name == DEFAULT_STORE else store.name
            if operator.variables and family == DEFAULT_FAMILY:
                # Spark registers it but has no rows in it.
                continue
            described = versions[-1]
            if operator.name in _GROUPS:
                described = _with_long_timeout(described)
            shape = shapes.get(family, Shape.ROWS)
            found += _of_family(described, versions, number, name, shape)
    has_sides = any(it.shape is Shape.JOIN_SIDE for it in found)

    def is_internal(it: Layout) -> bool:
        return it.name.startswith("$") or (has_sides and it.shape is not Shape.JOIN_SIDE)

    return sorted(found, key=lambda it: (is_internal(it), it.name))


def _with_long_timeout(described: FamilySchema) -> FamilySchema:
    if not described.value.fields:
        return described
    *others, last = described.value.fields
    # Spark 4.3 made all fields nullable.
    if (last.name, last.type) != _TIMEOUT:
        return described
    return replace(described, value=Struct((*others, replace(last, type=Atomic("long")))))


def _of_family(
    described: FamilySchema, versions: list[FamilySchema], store: int, name: str, shape: Shape
) -> Iterator[Layout]:
    def layout(name: str, shape: Shape) -> Layout:
        return Layout(name, store, described.name, shape, described, versions)

    side = _JOIN_VALUES.fullmatch(name)
    if side:
        yield layout(side[1], Shape.JOIN_SIDE)
    if shape in {Shape.MAP, Shape.TIMERS} and not _is_nested(described.key):
        shape = Shape.ROWS
    if shape is Shape.TIMERS:
        yield layout(_TIMERS, shape)
        shape = Shape.ROWS
    yield layout(name, shape)


def _is_nested(key: Struct) -> bool:
    return len(key.fields) == 2 and isinstance(key[0], Struct)  # noqa: PLR2004 - key and the other
