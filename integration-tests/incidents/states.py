"""The states in which an incident finds a query: each is a checkpoint that is made once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

import keyfold
from incidents.query import FILES, Query, write_inputs
from keyfold.settings import FORMAT_KEY, PROVIDER_KEY
from kit.providers import HDFS, ROCKSDB

SHORT = {
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "2",
    "spark.sql.streaming.minBatchesToRetain": "3",
}


def _stopped(_: Query) -> None:
    """After a committed batch."""


def _open(query: Query) -> None:
    """As if the driver had died before it committed the last batch."""
    commits = query.checkpoint / "commits"
    newest = max(int(it.name) for it in commits.iterdir() if it.name.isdigit())
    for name in (f"{newest}", f".{newest}.crc"):
        (commits / name).unlink(missing_ok=True)


def _rescaled(query: Query) -> None:
    keyfold.rescale(query.checkpoint, 3, dry_run=False, spark=query.spark)


def _rescaled_before_an_open_batch(query: Query) -> None:
    _open(query)
    _rescaled(query)


def _rescale_interrupted(query: Query) -> None:
    _rescaled(query)
    _open(query)


def _rolled_back(query: Query) -> None:
    sink = None if query.sink is None else str(query.sink)
    keyfold.open_checkpoint(query.checkpoint).rollback(-2, dry_run=False, sink_path=sink)


def _rolled_back_without_sink(query: Query) -> None:
    keyfold.open_checkpoint(query.checkpoint).rollback(-2, dry_run=False)


def _migrated(query: Query) -> None:
    keyfold.migrate(
        query.checkpoint,
        dry_run=False,
        spark=query.spark,
    )
    for key in (PROVIDER_KEY, FORMAT_KEY):
        query.settings.pop(key)


def _other(provider: str) -> dict[str, str]:
    return {PROVIDER_KEY: provider, FORMAT_KEY: "1"}


Last = Callable[[Query], None]
# What happens to the query after its batches, its settings, and whether it has a file sink.
STATES: dict[str, tuple[Last, dict[str, str], bool]] = {
    "stopped": (_stopped, {}, False),
    "stopped, few batches kept": (_stopped, SHORT, False),
    "stopped, format 1": (_stopped, {FORMAT_KEY: "1"}, False),
    "in a batch": (_open, {}, False),
    "in a batch, few kept": (_open, SHORT, False),
    "in a batch, format 1": (_open, {FORMAT_KEY: "1"}, False),
    "rescaled": (_rescaled, {}, False),
    "rescaled, format 1": (_rescaled, {FORMAT_KEY: "1"} | SHORT, False),
    "rescaled before an open batch": (_rescaled_before_an_open_batch, {}, False),
    "rescale interrupted": (_rescale_interrupted, {}, False),
    "rolled back": (_rolled_back, {}, False),
    "migrated from HDFSBacked": (_migrated, _other(HDFS), False),
    "migrated from RocksDB": (_migrated, _other(ROCKSDB), False),
    "not migrated from HDFSBacked": (_stopped, _other(HDFS), False),
    "file sink": (_stopped, {}, True),
    "file sink, few kept": (_stopped, SHORT, True),
    "file sink, in a batch": (_open, {}, True),
    "file sink, in a batch, format 1": (_open, {FORMAT_KEY: "1"}, True),
    "file sink, rescaled": (_rescaled, {}, True),
    "file sink, rolled back": (_rolled_back, {}, True),
    "file sink, rolled back without it": (_rolled_back_without_sink, {}, True),
    "file sink, migrated from HDFSBacked": (_migrated, _other(HDFS), True),
    "file sink, migrated from RocksDB": (_migrated, _other(ROCKSDB), True),
    "not migrated from RocksDB, with a file sink": (_stopped, _other(ROCKSDB), True),
}


def _moved(log: Path, before: Path, after: Path) -> None:
    """A sink's log has absolute paths."""
    for entry in log.iterdir():
        if entry.suffix == ".crc":
            entry.unlink()
        else:
            text = entry.read_text(encoding="utf-8")
            entry.write_text(text.replace(f"{before}/", f"{after}/"), encoding="utf-8")


class States:
    """Checkpoints in each state, made when they are first asked for."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self._spark, self._root, self._made = spark, root, 0
        self.source = root / "in"
        self._settings: dict[str, dict[str, str]] = {}

    def copy(self, name: str) -> Query:
        """A query in this state, on a checkpoint of its own."""
        # A sink's log has URIs, where a space is not a space.
        base = self._root / name.replace(",", "").replace(" ", "-")
        if name not in self._settings:
            self._make(name, base)
        write_inputs(self.source, FILES)
        self._made += 1
        copy = self._root / f"incident-{self._made}"
        shutil.copytree(base, copy)
        sink = copy / "out" if STATES[name][2] else None
        if sink:
            _moved(sink / "_spark_metadata", base, copy)
        checkpoint = copy / "checkpoint"
        settings = dict(self._settings[name])
        return Query(self._spark, self.source, checkpoint, sink, base / "checkpoint", settings)

    def _make(self, name: str, base: Path) -> None:
        last, settings, has_sink = STATES[name]
        sink = base / "out" if has_sink else None
        place = base / "checkpoint"
        query = Query(self._spark, self.source, place, sink, place, dict(settings))
        write_inputs(self.source, FILES)
        said = query.run()
        if said is not None:
            raise AssertionError(said)
        last(query)
        if name.startswith("not migrated"):
            for key in (PROVIDER_KEY, FORMAT_KEY):
                query.settings.pop(key)
        self._settings[name] = query.settings
