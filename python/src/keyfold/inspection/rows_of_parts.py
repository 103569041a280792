"""Makes the rows of the inspector's tables from listings and footers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.describe.values import total
from keyfold.errors import KeyfoldError
from keyfold.format.footer import Family, Footer
from keyfold.format.names import FileName
from keyfold.rows.places import Flags
from keyfold.spark_log.logs import OperatorMetadata
from keyfold.state.chain import chains, referenced
from keyfold.state.walk import Part

T = TypeVar("T")
# Names and types of columns, and what is in them for an item.
Columns: TypeAlias = list[tuple[str, pa.DataType, Callable[[T], Any]]]

_STORE = [("operator", pa.int64()), ("partition", pa.int32()), ("store", pa.string())]


def _table(items: Iterable[T], columns: Columns[T]) -> pa.Table:
    its = list(items)
    arrays = [pa.array([value(it) for it in its], kind) for _, kind, value in columns]
    return pa.Table.from_arrays(arrays, names=[name for name, _, _ in columns])


def _of_part(part_of: Callable[[T], Part]) -> Columns[T]:
    """The columns that say of which store a row is."""
    return [
        ("operator", pa.int64(), lambda it: part_of(it).place.operator),
        ("partition", pa.int32(), lambda it: part_of(it).place.partition),
        ("store", pa.string(), lambda it: part_of(it).place.store),
    ]


def partitions(operators: list[OperatorMetadata], parts: list[Part]) -> pa.Table:
    """A row for each part."""
    names = {operator.id: operator.name for operator in operators}

    def of_head(value: Callable[[Footer], Any]) -> Callable[[Part], Any]:
        return lambda it: None if it.head is None else value(it.head)

    columns: Columns[Part] = [
        *_of_part(lambda it: it),
        ("operator_name", pa.string(), lambda it: names[it.place.operator]),
        ("version", pa.int64(), lambda it: it.version),
        ("id", pa.string(), lambda it: it.unique),
        ("head", pa.string(), of_head(lambda it: it.frame.kind.name.lower())),
        ("rows", pa.int64(), of_head(_rows)),
        ("values", pa.int64(), of_head(lambda it: total(of.values for of in it.families))),
        ("live_bytes", pa.int64(), of_head(lambda it: total(of.bytes for of in it.families))),
        ("key_groups", pa.int32(), of_head(lambda it: it.identity.key_groups)),
        ("deltas_to_load", pa.int32(), _deltas),
        ("files", pa.int32(), lambda it: len(it.files.sizes)),
        ("disk_bytes", pa.int64(), lambda it: sum(it.files.sizes.values())),
    ]
    return _table(parts, columns)


def _part(it: tuple[Part, object]) -> Part:
    return it[0]


def _rows(head: Footer) -> int | None:
    return total(it.keys for it in head.families if not it.internal)


def _deltas(part: Part) -> int | None:
    """Number of deltas that a load applies after the snapshot; None if it cannot be loaded."""
    try:
        chain = next(chains(part.files, part.written))
    except KeyfoldError:
        return None
    return sum(step.path.endswith(".delta") for step in chain.steps)


def files(parts: list[Part]) -> pa.Table:
    """A row for each file."""
    columns: Columns[tuple[Part, FileName]] = [
        *_of_part(_part),
        ("name", pa.string(), lambda it: str(it[1])),
        ("kind", pa.string(), lambda it: it[1].kind.name.lower()),
        ("batch_id", pa.int64(), lambda it: it[1].version - 1),
        ("version", pa.int64(), lambda it: it[1].version),
        ("id", pa.string(), lambda it: it[1].id),
        ("bytes", pa.int64(), lambda it: it[0].files.sizes[it[1]]),
        ("modified_ms", pa.int64(), lambda it: it[0].files.times.get(it[1])),
    ]
    found = (
        (part, name)
        for part in parts
        for name in sorted(part.files.sizes, key=lambda it: (it.version, str(it)))
    )
    return _table(found, columns)


def _referenced(part: Part, footer: Footer) -> int | None:
    """Number of files that a reference takes rows from; None if its manifest cannot be read."""
    try:
        return len(referenced(part.files, footer))
    except KeyfoldError:
        return None


def footers(found: Iterable[tuple[Part, Footer]]) -> pa.Table:
    """A row for each footer."""

    def of(value: Callable[[Footer], Any]) -> Callable[[tuple[Part, Footer]], Any]:
        return lambda it: value(it[1])

    texts = pa.list_(pa.string())
    columns: Columns[tuple[Part, Footer]] = [
        *_of_part(_part),
        ("name", pa.string(), lambda it: it[0].files.name_of(it[1])),
        ("kind", pa.string(), of(lambda it: it.frame.kind.name.lower())),
        ("batch_id", pa.int64(), of(lambda it: it.identity.version - 1)),
        ("entries", pa.int64(), of(lambda it: sum(block.entries for block in it.blocks))),
        ("blocks", pa.int32(), of(lambda it: len(it.blocks))),
        ("groups", pa.int32(), of(lambda it: len(it.groups))),
        ("raw_bytes", pa.int64(), of(lambda it: sum(block.raw_length for block in it.blocks))),
        ("bytes", pa.int64(), of(lambda it: it.frame.file_length)),
        ("codecs", texts, of(lambda it: sorted({of.codec.name.lower() for of in it.blocks}))),
        ("row_checksums", pa.bool_(), of(lambda it: it.frame.row_checksums)),
        ("lineage", pa.int32(), of(lambda it: len(it.lineage))),
        ("dropped", texts, of(lambda it: list(it.dropped))),
        ("referenced_files", pa.int32(), lambda it: _referenced(*it)),
        ("created_ms", pa.int64(), of(lambda it: it.identity.created)),
        ("writer", pa.string(), of(lambda it: it.identity.writer)),
    ]
    return _table(found, columns)


def groups(parts: list[Part]) -> pa.Table:
    """A row for each file of a version, family and key group.

    A group of a file that several partitions refer to is listed once, for the first of them.
    """
    schema = pa.schema(
        [
            *_STORE,
            ("name", pa.string()),
            ("family", pa.string()),
            ("key_group", pa.int32()),
            ("entries", pa.int64()),
            ("bytes", pa.int64()),
        ]
    )
    tables = [schema.empty_table()]
    listed: dict[str, Flags] = {}
    for part in parts:
        chain = next(chains(part.files, part.written))
        for step in reversed(chain.steps):
            footer = part.files.footer_at(step.path)
            found = footer.groups
            if step.reference is not None:
                before = listed.get(step.path, np.zeros(len(found), dtype=np.bool_))
                own = step.may_hold(footer) & ~before
                listed[step.path] = before | own
                found = found.take(own)
            count = len(found)
            names = np.array([it.name for it in footer.families], dtype=object)
            constant = [part.place.operator, part.place.partition, part.place.store]
            columns = [
                *([value] * count for value in constant),
                [step.path.rsplit("/", 1)[-1]] * count,
                names[found.family].tolist() if count else [],
                found.group.tolist(),
                found.entries.tolist(),
                found.bytes.tolist(),
            ]
            arrays = [pa.array(it, field.type) for it, field in zip(columns, schema, strict=True)]
            tables.append(pa.Table.from_arrays(arrays, schema=schema))
    return pa.concat_tables(tables)


def families(parts: list[Part]) -> pa.Table:
    """A row for each column family of a store."""
    found: dict[tuple[int, str, str], list[Family]] = {}
    for part in parts:
        for family in part.head.families if part.head else ():
            key = (part.place.operator, part.place.store, family.name)
            found.setdefault(key, []).append(family)

    def of_any(value: Callable[[Family], Any]) -> Callable[[tuple[Any, list[Family]]], Any]:
        return lambda it: value(it[1][0])

    def summed(value: Callable[[Family], int | None]) -> Callable[[tuple[Any, list[Family]]], Any]:
        return lambda it: total(map(value, it[1]))

    columns: Columns[tuple[tuple[int, str, str], list[Family]]] = [
        ("operator", pa.int64(), lambda it: it[0][0]),
        ("store", pa.string(), lambda it: it[0][1]),
        ("family", pa.string(), lambda it: it[0][2]),
        ("internal", pa.bool_(), of_any(lambda it: it.internal)),
        ("multi_value", pa.bool_(), of_any(lambda it: it.multi_value)),
        ("ordered", pa.bool_(), of_any(lambda it: it.ordered)),
        ("key_encoding", pa.string(), of_any(lambda it: it.key_encoding)),
        ("row_encoding", pa.string(), of_any(lambda it: it.row_encoding)),
        ("partition_key", pa.string(), of_any(lambda it: it.partition_key)),
        ("strays", pa.bool_(), lambda it: any(of.strays for of in it[1])),
        ("keys", pa.int64(), summed(lambda it: it.keys)),
        ("values", pa.int64(), summed(lambda it: it.values)),
        ("bytes", pa.int64(), summed(lambda it: it.bytes)),
    ]
    return _table(found.items(), columns)
