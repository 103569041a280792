"""A stateful operator: its stores and state variables as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from keyfold.errors import InvalidArgumentError
from keyfold.layout.layouts import layouts
from keyfold.spark_log.logs import OperatorMetadata
from keyfold.storage.storage import Storage
from keyfold.table.scan import Scan
from keyfold.table.source import Source, unknown
from keyfold.table.state_table import StateTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Short names for Spark's operators.
ALIASES = {
    "stateStoreSave": "agg",
    "dedupe": "dedup",
    "dedupeWithinWatermark": "dedup",
    "symmetricHashJoin": "join",
    "sessionWindowStateStoreSaveExec": "session",
    "globalLimit": "limit",
    "flatMapGroupsWithState": "groups",
    "applyInPandasWithState": "groups",
    "transformWithStateExec": "tws",
    "transformWithStateInPandasExec": "tws",
    "transformWithStateInPySparkExec": "tws",
}


class Operator:
    """A stateful operator of a query. If it has only one table, its methods read that table."""

    def __init__(self, storage: Storage, metadata: OperatorMetadata) -> None:
        self._storage = storage
        self.metadata = metadata

    @property
    def id(self) -> int:
        """Its number in the query."""
        return self.metadata.id

    @property
    def name(self) -> str:
        """Its name in Spark."""
        return self.metadata.name

    @property
    def alias(self) -> str:
        """A short name of its kind: agg, dedup, join, session, limit, groups or tws."""
        return ALIASES.get(self.name, self.name)

    @property
    def stores(self) -> tuple[str, ...]:
        """Names of its stores."""
        return tuple(store.name for store in self.metadata.stores)

    @cached_property
    def tables(self) -> Mapping[str, StateTable]:
        """Its tables by name; Spark's internal tables have names with `$`, or the name of a store.

        Raises:
            FileMissingError: a schema file does not exist.
            CheckpointDamagedError: a schema file cannot be parsed.
        """
        return {
            layout.name: StateTable(Source(self._storage, self.metadata, layout))
            for layout in layouts(self._storage.once(), self.metadata)
        }

    def __getitem__(self, name: str) -> StateTable:
        """A table by name; raises UnknownNameError, and the errors of `tables`."""
        found = self.tables.get(name)
        if found is None:
            raise unknown(f"in operator {self.id}", name, list(self.tables))
        return found

    @property
    def schema(self) -> pa.Schema:
        """As `StateTable.schema`, of its only table."""
        return self.only.schema

    def get(self, key: Mapping[str, Any], batch: int = -1) -> pa.Table:
        """As `StateTable.get`, of its only table."""
        return self.only.get(key, batch)

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: str | pc.Expression | None = None,
        batch: int = -1,
        limit: int | None = None,
    ) -> Scan:
        """As `StateTable.scan`, of its only table."""
        return self.only.scan(columns, where, batch, limit)

    def count(self, batch: int = -1) -> int:
        """As `StateTable.count`, of its only table."""
        return self.only.count(batch)

    def diff(self, before: int, after: int = -1) -> pa.Table:
        """As `StateTable.diff`, of its only table."""
        return self.only.diff(before, after)

    def history(self, key: Mapping[str, Any]) -> pa.Table:
        """As `StateTable.history`, of its only table."""
        return self.only.history(key)

    def to_spark(
        self,
        spark: SparkSession,
        columns: Sequence[str] | None = None,
        where: str | pc.Expression | None = None,
        batch: int = -1,
    ) -> DataFrame:
        """As `StateTable.to_spark`, of its only table."""
        return self.only.to_spark(spark, columns, where, batch)

    @property
    def only(self) -> StateTable:
        """Its only table; raises InvalidArgumentError if it has several."""
        if len(self.tables) != 1:
            raise InvalidArgumentError(
                f"Operator {self.id}, {self.name}, has several tables. Take one of them by name, "
                f"such as operator[{next(iter(self.tables), '')!r}]: {', '.join(self.tables)}."
            )
        return next(iter(self.tables.values()))

    def __repr__(self) -> str:
        """Number and name."""
        return f"Operator({self.id}, {self.name!r})"
