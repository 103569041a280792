"""What Spark's `statestore` source and this package say of the same state, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

import keyfold
from keyfold.table.state_table import StateTable


def tables(checkpoint: Path) -> Iterator[tuple[StateTable, dict[str, Any]]]:
    """Every table that Spark can read, with the options that make it."""
    for operator in keyfold.open_checkpoint(checkpoint).operators:
        for name, table in operator.tables.items():
            options: dict[str, Any] = {"operatorId": operator.id}
            shared = table.source.location(0).store == "default"
            if table.kind == "join side":
                options["joinSide"] = name
            elif table.kind == "timers":
                options["readRegisteredTimers"] = "true"
            elif operator.alias == "tws" and name.startswith("$"):
                continue
            elif operator.alias in {"tws", "join"} and shared:
                options["stateVarName"] = name
            elif name != "default":
                options["storeName"] = name
            yield table, options


def compare(spark: SparkSession, checkpoint: Path, batch: int | None = None) -> dict[str, int]:
    """Asserts that all tables are equal, flat and not; returns their numbers of rows."""
    found = {}
    for table, options in tables(checkpoint):
        for flat in (True, False) if table.kind in {"list", "map"} else (True,):
            reader = spark.read.format("statestore").options(**options)
            if not flat:
                reader = reader.option("flattenCollectionTypes", "false")
            if batch is not None:
                reader = reader.option("batchId", batch)
            theirs = reader.load(str(checkpoint)).toArrow()
            mine = table.scan(batch=-1 if batch is None else batch, flatten=flat).to_arrow()
            # Spark shows it in the rows of the store only, which are compared too.
            if "matched" in mine.schema.names:
                mine = mine.drop_columns("matched")
            assert mine.schema.equals(theirs.schema), table.name
            assert bag(mine) == bag(theirs), table.name
            assert table.scan(batch=-1 if batch is None else batch, flatten=flat).count() == len(
                mine
            )
            found[table.name] = len(mine)
    return found


def bag(table: pa.Table) -> list[str]:
    """Rows in an order of their own; so are the entries of maps."""
    types = {field.name: field.type for field in table.schema}
    return sorted(
        repr([(name, plain(value, types[name])) for name, value in row.items()])
        for row in table.to_pylist()
    )


def plain(value: Any, it: pa.DataType) -> Any:
    if value is None:
        return None
    if pa.types.is_struct(it):
        return [plain(value[field.name], field.type) for field in it]
    if pa.types.is_map(it):
        return sorted(repr((plain(k, it.key_type), plain(v, it.item_type))) for k, v in value)
    if pa.types.is_list(it):
        return [plain(each, it.value_type) for each in value]
    return repr(value)
