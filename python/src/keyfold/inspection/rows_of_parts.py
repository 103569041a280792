"""Makes the rows of the inspector's tables from listings and footers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.errors import KeyfoldError
from keyfold.format.footer import Family, Footer, total
from keyfold.rows.arrow import Flags
from keyfold.spark_log.logs import OperatorMetadata
from keyfold.state.chain import chain_of, referenced
from keyfold.state.walk import Part

# Name and type of each column, and its value for an item.
Columns: TypeAlias = list[tuple[str, pa.DataType, Callable[..., Any]]]

# Of which store a row is, for items that begin with a part.
_STORE: Columns = [
    ("operator", pa.int64(), lambda part, *_: part.location.operator),
    ("partition", pa.int32(), lambda part, *_: part.location.partition),
    ("store", pa.string(), lambda part, *_: part.location.store),
]


def _table(items: Iterable[tuple[Any, ...]], columns: Columns) -> pa.Table:
    every = list(items)
    arrays = [pa.array([value(*item) for item in every], kind) for _, kind, value in columns]
    return pa.Table.from_arrays(arrays, names=[name for name, _, _ in columns])


def partitions(operators: list[OperatorMetadata], parts: list[Part]) -> pa.Table:
    """A row for each part."""
    names = {operator.id: operator.name for operator in operators}
    columns: Columns = [
        *_STORE,
        ("operator_name", pa.string(), lambda part: names[part.location.operator]),
        ("version", pa.int64(), lambda part: part.version),
        ("id", pa.string(), lambda part: part.unique),
        ("head", pa.string(), lambda part: part.head and part.head.frame.kind.label),
        ("rows", pa.int64(), lambda part: part.rows),
        ("values", pa.int64(), lambda part: part.values),
        ("live_bytes", pa.int64(), lambda part: part.bytes),
        ("key_groups", pa.int32(), lambda part: part.head and part.head.identity.key_groups),
        ("deltas_to_load", pa.int32(), _deltas),
        ("files", pa.int32(), lambda part: len(part.files.sizes)),
        ("disk_bytes", pa.int64(), lambda part: sum(part.files.sizes.values())),
    ]
    return _table(((part,) for part in parts), columns)


def _deltas(part: Part) -> int | None:
    """Number of deltas, also merged ones, that a load applies; None if it cannot be loaded."""
    try:
        chain = chain_of(part.files, part.written)
    except KeyfoldError:
        return None
    return sum(step.path.endswith((".delta", ".merged")) for step in chain.steps)


def files(parts: list[Part]) -> pa.Table:
    """A row for each file."""
    columns: Columns = [
        *_STORE,
        ("name", pa.string(), lambda _, name: str(name)),
        ("kind", pa.string(), lambda _, name: name.kind.label),
        ("batch_id", pa.int64(), lambda _, name: name.version - 1),
        ("version", pa.int64(), lambda _, name: name.version),
        ("id", pa.string(), lambda _, name: name.id),
        ("bytes", pa.int64(), lambda part, name: part.files.sizes[name]),
        ("modified_ms", pa.int64(), lambda part, name: part.files.times.get(name)),
    ]
    every = (
        (part, name)
        for part in parts
        for name in sorted(part.files.sizes, key=lambda it: (it.version, str(it)))
    )
    return _table(every, columns)


def _referenced(part: Part, footer: Footer) -> int | None:
    """Number of files that a reference takes rows from; None if its manifest cannot be read."""
    try:
        return len(referenced(part.files, footer))
    except KeyfoldError:
        return None


def footers(of_parts: Iterable[tuple[Part, Footer]]) -> pa.Table:
    """A row for each footer."""
    texts = pa.list_(pa.string())
    columns: Columns = [
        *_STORE,
        ("name", pa.string(), lambda _, footer: str(footer.name)),
        ("kind", pa.string(), lambda _, footer: footer.frame.kind.label),
        ("batch_id", pa.int64(), lambda _, footer: footer.identity.version - 1),
        ("base", pa.int64(), lambda _, footer: footer.base),
        ("entries", pa.int64(), lambda _, footer: sum(it.entries for it in footer.blocks)),
        ("blocks", pa.int32(), lambda _, footer: len(footer.blocks)),
        ("groups", pa.int32(), lambda _, footer: len(footer.groups)),
        ("raw_bytes", pa.int64(), lambda _, footer: sum(it.raw_length for it in footer.blocks)),
        ("bytes", pa.int64(), lambda _, footer: footer.frame.file_length),
        (
            "codecs",
            texts,
            lambda _, footer: sorted({it.codec.name.lower() for it in footer.blocks}),
        ),
        ("row_checksums", pa.bool_(), lambda _, footer: footer.frame.row_checksums),
        ("lineage", pa.int32(), lambda _, footer: len(footer.lineage)),
        ("dropped", texts, lambda _, footer: list(footer.dropped)),
        ("referenced_files", pa.int32(), _referenced),
        ("created_ms", pa.int64(), lambda _, footer: footer.identity.created),
        ("writer", pa.string(), lambda _, footer: footer.identity.writer),
    ]
    return _table(of_parts, columns)


def groups(parts: list[Part]) -> pa.Table:
    """A row for each file of a version, family and key group.

    A group of a file that several partitions refer to is listed once, for the first of them.
    """
    schema = pa.schema(
        [
            *((name, kind) for name, kind, _ in _STORE),
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
        chain = chain_of(part.files, part.written)
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
            columns = [
                *([value(part)] * count for _, _, value in _STORE),
                [step.path.rsplit("/", 1)[-1]] * count,
                names[found.family].tolist() if count else [],
                found.group.tolist(),
                found.entries.tolist(),
                found.bytes.tolist(),
            ]
            tables.append(pa.table(dict(zip(schema.names, columns, strict=True)), schema))
    return pa.concat_tables(tables)


def families(parts: list[Part]) -> pa.Table:
    """A row for each column family of a store."""
    by_name: dict[tuple[int, str, str], list[Family]] = {}
    for part in parts:
        for family in part.head.families if part.head else ():
            key = (part.location.operator, part.location.store, family.name)
            by_name.setdefault(key, []).append(family)
    columns: Columns = [
        ("operator", pa.int64(), lambda key, _: key[0]),
        ("store", pa.string(), lambda key, _: key[1]),
        ("family", pa.string(), lambda key, _: key[2]),
        ("internal", pa.bool_(), lambda _, same: same[0].internal),
        ("multi_value", pa.bool_(), lambda _, same: same[0].multi_value),
        ("ordered", pa.bool_(), lambda _, same: same[0].ordered),
        ("key_encoding", pa.string(), lambda _, same: same[0].key_encoding),
        ("row_encoding", pa.string(), lambda _, same: same[0].row_encoding),
        ("partition_key", pa.string(), lambda _, same: same[0].partition_key),
        ("strays", pa.bool_(), lambda _, same: any(it.strays for it in same)),
        ("keys", pa.int64(), lambda _, same: total(it.keys for it in same)),
        ("values", pa.int64(), lambda _, same: total(it.values for it in same)),
        ("bytes", pa.int64(), lambda _, same: total(it.bytes for it in same)),
    ]
    return _table(by_name.items(), columns)
