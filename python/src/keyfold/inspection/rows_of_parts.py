"""Makes the rows of the inspector's tables from listings and footers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.describe.values import total
from keyfold.errors import KeyfoldError
from keyfold.format.footer import Family, Footer
from keyfold.rows.places import Flags
from keyfold.spark_log.logs import OperatorMetadata
from keyfold.state.chain import chains, referenced
from keyfold.state.walk import Part

_STORE = [("operator", pa.int64()), ("partition", pa.int32()), ("store", pa.string())]
_FILE = [*_STORE, ("name", pa.string()), ("kind", pa.string()), ("batch_id", pa.int64())]


def partitions(operators: list[OperatorMetadata], parts: list[Part]) -> pa.Table:
    """A row for each part."""
    names = {operator.id: operator.name for operator in operators}
    found = []
    for part in parts:
        head = part.head
        families = head.families if head else ()
        found.append(
            _of(part)
            | {
                "operator_name": names[part.place.operator],
                "version": part.version,
                "id": part.unique,
                "head": head.frame.kind.name.lower() if head else None,
                "rows": total(it.keys for it in families if not it.internal) if head else None,
                "values": total(it.values for it in families) if head else None,
                "live_bytes": total(it.bytes for it in families) if head else None,
                "key_groups": head.identity.key_groups if head else None,
                "deltas_to_load": _deltas(part),
                "files": len(part.files.sizes),
                "disk_bytes": sum(part.files.sizes.values()),
            }
        )
    more = [
        ("operator_name", pa.string()),
        ("version", pa.int64()),
        ("id", pa.string()),
        ("head", pa.string()),
        ("rows", pa.int64()),
        ("values", pa.int64()),
        ("live_bytes", pa.int64()),
        ("key_groups", pa.int32()),
        ("deltas_to_load", pa.int32()),
        ("files", pa.int32()),
        ("disk_bytes", pa.int64()),
    ]
    return pa.Table.from_pylist(found, pa.schema([*_STORE, *more]))


def _deltas(part: Part) -> int | None:
    """Number of deltas that a load applies after the snapshot; None if it cannot be loaded."""
    try:
        chain = next(chains(part.files, part.written))
    except KeyfoldError:
        return None
    return sum(step.path.endswith(".delta") for step in chain.steps)


def files(parts: list[Part]) -> pa.Table:
    """A row for each file."""
    found = [
        _of(part)
        | {
            "name": str(name),
            "kind": name.kind.name.lower(),
            "batch_id": name.version - 1,
            "version": name.version,
            "id": name.id,
            "bytes": size,
            "modified_ms": part.files.times.get(name),
        }
        for part in parts
        for name, size in sorted(part.files.sizes.items(), key=lambda it: (it[0].version, str(it)))
    ]
    more = [
        ("version", pa.int64()),
        ("id", pa.string()),
        ("bytes", pa.int64()),
        ("modified_ms", pa.int64()),
    ]
    return pa.Table.from_pylist(found, pa.schema([*_FILE, *more]))


def _referenced(part: Part, footer: Footer) -> int | None:
    """Number of files that a reference takes rows from; None if its manifest cannot be read."""
    try:
        return len(referenced(part.files, footer))
    except KeyfoldError:
        return None


def footers(found: Iterable[tuple[Part, Footer]]) -> pa.Table:
    """A row for each footer."""
    rows = [
        _of(part)
        | {
            "name": part.files.name_of(footer),
            "kind": footer.frame.kind.name.lower(),
            "batch_id": footer.identity.version - 1,
            "entries": sum(block.entries for block in footer.blocks),
            "blocks": len(footer.blocks),
            "groups": len(footer.groups),
            "raw_bytes": sum(block.raw_length for block in footer.blocks),
            "bytes": footer.frame.file_length,
            "codecs": sorted({block.codec.name.lower() for block in footer.blocks}),
            "row_checksums": footer.frame.row_checksums,
            "lineage": len(footer.lineage),
            "dropped": list(footer.dropped),
            "referenced_files": _referenced(part, footer),
            "created_ms": footer.identity.created,
            "writer": footer.identity.writer,
        }
        for part, footer in found
    ]
    more = [
        ("entries", pa.int64()),
        ("blocks", pa.int32()),
        ("groups", pa.int32()),
        ("raw_bytes", pa.int64()),
        ("bytes", pa.int64()),
        ("codecs", pa.list_(pa.string())),
        ("row_checksums", pa.bool_()),
        ("lineage", pa.int32()),
        ("dropped", pa.list_(pa.string())),
        ("referenced_files", pa.int32()),
        ("created_ms", pa.int64()),
        ("writer", pa.string()),
    ]
    return pa.Table.from_pylist(rows, pa.schema([*_FILE, *more]))


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
            found.setdefault((part.place.operator, part.place.store, family.name), []).append(
                family
            )
    rows = [
        {
            "operator": operator,
            "store": store,
            "family": name,
            "internal": same[0].internal,
            "multi_value": same[0].multi_value,
            "ordered": same[0].ordered,
            "key_encoding": same[0].key_encoding,
            "row_encoding": same[0].row_encoding,
            "partition_key": same[0].partition_key,
            "strays": any(it.strays for it in same),
            "keys": total(it.keys for it in same),
            "values": total(it.values for it in same),
            "bytes": total(it.bytes for it in same),
        }
        for (operator, store, name), same in found.items()
    ]
    schema = pa.schema(
        [
            ("operator", pa.int64()),
            ("store", pa.string()),
            ("family", pa.string()),
            ("internal", pa.bool_()),
            ("multi_value", pa.bool_()),
            ("ordered", pa.bool_()),
            ("key_encoding", pa.string()),
            ("row_encoding", pa.string()),
            ("partition_key", pa.string()),
            ("strays", pa.bool_()),
            ("keys", pa.int64()),
            ("values", pa.int64()),
            ("bytes", pa.int64()),
        ]
    )
    return pa.Table.from_pylist(rows, schema)


def _of(part: Part) -> dict[str, Any]:
    place = part.place
    return {"operator": place.operator, "partition": place.partition, "store": place.store}
