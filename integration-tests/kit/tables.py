"""Writes the logs of Delta and Iceberg tables, as the specifications of both formats have them."""

from __future__ import annotations

import gzip
import json
import os
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_TXN = pa.struct([("appId", pa.string()), ("version", pa.int64()), ("lastUpdated", pa.int64())])
_PROTOCOL = pa.struct(
    [
        ("minReaderVersion", pa.int32()),
        ("minWriterVersion", pa.int32()),
        ("readerFeatures", pa.list_(pa.string())),
        ("writerFeatures", pa.list_(pa.string())),
    ]
)
_META_DATA = pa.struct([("id", pa.string()), ("configuration", pa.map_(pa.string(), pa.string()))])
_ADD = pa.struct([("path", pa.string()), ("stats", pa.string())])


class DeltaTable:
    """A Delta table without data: only what its log says."""

    def __init__(self, root: Path) -> None:
        self.root, self.log = root, root / "_delta_log"
        self.log.mkdir(parents=True)
        self.newest = -1
        # In ms since 1970.
        self.time = int(time.time() * 1000)
        self._configuration: dict[str, str] = {}
        self._protocol: dict[str, Any] = {"minReaderVersion": 1, "minWriterVersion": 2}

    def commit(self, operation: str = "WRITE", **parameters: str) -> int:
        """The next version, by something that gives no id."""
        self.newest += 1
        info = {"timestamp": self.time, "operation": operation, "operationParameters": parameters}
        self._write({"commitInfo": info}, {"add": {"path": "a.parquet", "dataChange": True}})
        return self.newest

    def batches(self, app: str, *numbers: int, mode: str = "Append") -> None:
        """A version for each batch of a query."""
        for number in numbers:
            self.commit("STREAMING UPDATE", outputMode=mode, queryId=app, epochId=str(number))
            self._write({"txn": {"appId": app, "version": number, "lastUpdated": 0}})

    def features(self, *names: str) -> None:
        """A version from which on readers and writers must know these."""
        self.commit("SET TBLPROPERTIES")
        self._protocol = {
            "minReaderVersion": 3,
            "minWriterVersion": 7,
            "readerFeatures": list(names),
            "writerFeatures": list(names),
        }
        self._write({"protocol": self._protocol})

    def properties(self, **said: str) -> None:
        """A version from which on the table has these."""
        self.commit("SET TBLPROPERTIES")
        self._configuration = {name.replace("_", "."): it for name, it in said.items()}
        self._write({"metaData": {"id": "t", "configuration": self._configuration}})

    def checkpoint(self, applications: dict[str, int], parts: int = 1, adds: int = 0) -> list[Path]:
        """Of the newest version; the transactions are in the last part, as are files of data."""
        rows = [{"txn": {"appId": app, "version": it}} for app, it in applications.items()]
        stats = [os.urandom(50).hex() for _ in range(adds)]
        rows += [{"add": {"path": "a.parquet", "stats": it}} for it in stats]
        rows.append({"metaData": {"id": "t", "configuration": self._configuration}})
        schema = pa.schema(
            [("txn", _TXN), ("add", _ADD), ("metaData", _META_DATA), ("protocol", _PROTOCOL)]
        )
        name = f"{self.newest:020}.checkpoint"
        files = [self.log / f"{name}.parquet"]
        if parts > 1:
            names = [f"{name}.{it:010}.{parts:010}.parquet" for it in range(1, parts + 1)]
            files = [self.log / it for it in names]
        for file in files:
            its = rows if file == files[-1] else []
            every = [{"protocol": self._protocol}, *its]
            pq.write_table(pa.Table.from_pylist(every, schema), file)
        return files

    def forget(self, *versions: int) -> None:
        """Deletes commits, as the retention of a log does."""
        for it in versions:
            self.path(it).unlink()

    def path(self, version: int) -> Path:
        return self.log / f"{version:020}.json"

    def _write(self, *actions: dict[str, Any]) -> None:
        with self.path(self.newest).open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(it, separators=(",", ":")) + "\n" for it in actions)


class IcebergTable:
    """An Iceberg table without data. Snapshot n has the id 1000 + n."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "metadata").mkdir(parents=True)
        self.snapshots: list[dict[str, Any]] = []
        self.current = -1
        self.branches: dict[str, int] = {}
        self.states = 0
        self.updated = 0

    def commit(self, operation: str = "append", **summary: str) -> None:
        """The next snapshot, on the current one."""
        snapshot = {
            "snapshot-id": 1000 + len(self.snapshots),
            "timestamp-ms": 0,
            "summary": {"operation": operation, **summary},
        }
        if self.current >= 0:
            snapshot["parent-snapshot-id"] = self.current
        self.snapshots.append(snapshot)
        self.current = snapshot["snapshot-id"]

    def batches(self, query: str, *numbers: int, operation: str = "append") -> None:
        """A snapshot for each batch of a query."""
        for number in numbers:
            epoch = {
                "spark.sql.streaming.queryId": query,
                "spark.sql.streaming.epochId": str(number),
            }
            self.commit(operation, **epoch)

    def expire(self, *snapshots: int) -> None:
        """Drops snapshots, as `expire_snapshots` does."""
        self.snapshots = [it for it in self.snapshots if it["snapshot-id"] not in snapshots]

    def write(self, name: str = "v{}.metadata.json") -> Path:
        """The next file of metadata."""
        self.states += 1
        self.updated += 1
        metadata = {
            "format-version": 2,
            "last-updated-ms": self.updated,
            "current-snapshot-id": self.current,
            "snapshots": self.snapshots,
        }
        if self.branches:
            named = self.branches | {"main": self.current}
            refs = {name: {"snapshot-id": it, "type": "branch"} for name, it in named.items()}
            metadata["refs"] = refs | {"tag": {"snapshot-id": self.current, "type": "tag"}}
        file = self.root / "metadata" / name.format(self.states)
        content = json.dumps(metadata).encode()
        file.write_bytes(gzip.compress(content) if ".gz" in name else content)
        return file
