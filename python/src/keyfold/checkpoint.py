"""A checkpoint of a streaming query, opened by path. Methods that write use a JVM."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.admin import copies
from keyfold.admin.copies import Copy
from keyfold.admin.rollback import Rollback, rollback
from keyfold.admin.sync import Sync, sync
from keyfold.admin.vacuum import Vacuum, vacuum
from keyfold.describe.batch_table import batch_table
from keyfold.describe.describe import describe
from keyfold.describe.description import Description
from keyfold.doctor.doctor import examine_checkpoint
from keyfold.doctor.report import DoctorReport
from keyfold.errors import (
    CheckpointDamagedError,
    FileMissingError,
    InvalidArgumentError,
    NotACheckpointError,
    OtherProviderError,
)
from keyfold.fsck.check import fsck
from keyfold.fsck.finding import Kind
from keyfold.fsck.report import FsckReport
from keyfold.inspection.inspector import Inspector
from keyfold.report.growth import Progress
from keyfold.report.page import notebook, write_report
from keyfold.settings import PROVIDER_CLASS
from keyfold.spark_log.batch import find_batch
from keyfold.spark_log.flows import Flow, flows
from keyfold.spark_log.logs import batches, metadata_folder, operators, query_id, read_operators
from keyfold.spark_log.progress import newest_commit, read_progress
from keyfold.storage.storage import Storage
from keyfold.table.operator import Operator
from keyfold.table.source import unknown
from keyfold.watch.watch import watch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Checkpoint:
    """A checkpoint with its state in Keyfold. The query may run meanwhile.

    Properties and methods read the folder each time, so they return its current content. Besides
    the errors that they list, each may raise StorageError.
    """

    def __init__(self, storage: Storage, query: str | None) -> None:
        self._storage = storage
        self._query = query

    @property
    def path(self) -> str:
        """The path with which it was opened."""
        return self._storage.root

    @property
    def query_id(self) -> str | None:
        """Id of the query, the same after restarts; None if the file with it is lost or damaged."""
        return self._query

    @property
    def last_batch(self) -> int | None:
        """Number of the last committed batch; None before the first."""
        return read_progress(self._storage.once()).last_batch

    @property
    def provider(self) -> str | None:
        """Class of the state store provider; None before the first batch has started."""
        return read_progress(self._storage.once()).provider

    @property
    def operators(self) -> tuple[Operator, ...]:
        """The stateful operators, as Spark describes them.

        Raises:
            FileMissingError: an operator has a folder but no description.
            CheckpointDamagedError: a description cannot be parsed.
        """
        storage = self._storage.once()
        storage.fetch(listings=["commits", "state"])
        numbers = operators(storage)
        newest = [f"commits/{it}" for it in batches(storage, "commits")[-1:]]
        storage.fetch(newest, [metadata_folder(it) for it in numbers])
        commit, _ = newest_commit(storage)
        last = None if commit is None else commit.batch
        return tuple(Operator(self._storage, it) for it in read_operators(storage, numbers, last))

    def __getitem__(self, name: str | int) -> Operator:
        """An operator by number, Spark's name or a short one: agg, dedup, join, session, tws ...

        Raises:
            UnknownNameError: there is no operator with that name, or more than one.
        """
        known = self.operators
        found = [it for it in known if name in (it.id, it.name, it.alias, str(it.id))]
        if len(found) != 1:
            raise unknown("one operator", name, [f"{it.id} {it.name} ({it.alias})" for it in known])
        return found[0]

    def batches(self) -> pa.Table:
        """The batches in Spark's logs: when they began and ended, watermark, partitions.

        Times and durations are in ms. A batch that is not committed has no `committed_ms`.
        """
        return batch_table(self._storage.once())

    @property
    def inspect(self) -> Inspector:
        """Tables about the state: partitions, files, key groups, skew."""
        return Inspector(self._storage)

    def fsck(
        self,
        *,
        deep: bool = False,
        progress: Progress | None = None,
        spark: SparkSession | None = None,
    ) -> FsckReport:
        """Checks every file that the retained batches need for damage.

        Args:
            deep: whether to decode and count the rows too, and to compute their hashes again.
            progress: called with the numbers of stores of partitions that are done, and of all.
            spark: a session, classic or Connect, that checks with a task for each partition. Its
                Python workers need this package (on a cluster without it: `spark-submit
                --py-files`, or `addArtifacts`) and must reach the checkpoint by the same path. By
                default threads of this process check.
        """
        return fsck(self._storage.once(), deep=deep, progress=progress, spark=spark)

    def doctor(self, *, cores: int | None = None, memory_bytes: int | None = None) -> DoctorReport:
        """Advice: partitions, skew, snapshots, retention, files, memory; see docs/doctor.md.

        It reads logs, listings and a footer of each store, and rows only of a partition that is
        much larger than the others. It looks for no damage: see `fsck`.

        Args:
            cores: of all executors together, which is in no file.
            memory_bytes: the memory budgets of all executors together, which are in no file.

        Raises:
            InvalidArgumentError: one of them is less than 1.
            CheckpointDamagedError: the last entry of the commit log cannot be read.
            BatchNotRetainedError: the query deletes files faster than they can be read.
        """
        for name, number in (("cores", cores), ("memory_bytes", memory_bytes)):
            if number is not None and number < 1:
                raise InvalidArgumentError(f"Invalid {name} {number}: give a number of 1 or more.")
        return examine_checkpoint(self._storage, cores, memory_bytes)

    def report(self, path: str | PathLike[str], *, progress: Progress | None = None) -> None:
        """Writes a self-contained HTML page: the text of `describe`, and charts.

        Raises:
            ExtraMissingError: Matplotlib is not installed.
            InvalidArgumentError: there is no folder for the file.
            StorageError: the file cannot be written.
        """
        storage = self._storage.once()
        write_report(storage, describe(storage, self._query), path, progress)

    def savepoint(self, name: str) -> Copy:
        """Copies the newest batch to `keyfold/savepoints/NAME`, where it is kept.

        Like all methods that write, it needs a JVM: see `keyfold.admin.copies.savepoint`.
        """
        return copies.savepoint(self.path, name)

    def savepoints(self) -> tuple[str, ...]:
        """Names of the savepoints; each is a checkpoint at `keyfold/savepoints/NAME`."""
        storage = self._storage.once()
        names = sorted(it.name for it in storage.listing(copies.SAVEPOINTS))
        # The commit log is copied last: without it, the copy is incomplete.
        logs = {name: f"{copies.SAVEPOINTS}/{name}/commits" for name in names}
        storage.fetch(listings=logs.values())
        return tuple(name for name in names if batches(storage, logs[name]))

    def clone(
        self,
        path: str | PathLike[str],
        *,
        batch: int | None = None,
        dry_run: bool = False,
        sink_path: str | None = None,
    ) -> Copy:
        """Copies a batch as the checkpoint of a new query: see `keyfold.admin.copies.clone`.

        Raises OtherProviderError for a batch before a migration.
        """
        number = None if batch is None else find_batch(self._storage, batch).number
        return copies.clone(
            self.path,
            path,
            batch=number,
            dry_run=dry_run,
            sink_path=sink_path,
            storage_options=self._storage.options,
        )

    def sync(self, path: str | PathLike[str]) -> Sync:
        """Brings a copy for the same query to the newest batch: see `keyfold.admin.sync.sync`."""
        return sync(self.path, path)

    def rollback(
        self, batch: int, *, dry_run: bool = True, sink_path: str | None = None
    ) -> Rollback:
        """Makes an earlier batch the last one: see `keyfold.admin.rollback.rollback`.

        A negative number counts from the last batch, which is -1.

        Raises OtherProviderError for a batch before a migration.
        """
        number = find_batch(self._storage, batch).number
        return rollback(
            self.path,
            number,
            dry_run=dry_run,
            sink_path=sink_path,
            storage_options=self._storage.options,
        )

    def vacuum(self, *, older_than_hours: float = 24, dry_run: bool = True) -> Vacuum:
        """Deletes unreferenced files: see `keyfold.admin.vacuum.vacuum`."""
        paths = [it.path for it in self.fsck().findings if it.kind is Kind.UNREFERENCED]
        return vacuum(self.path, paths, older_than_hours=older_than_hours, dry_run=dry_run)

    def describe(self) -> Description:
        """Size, versions and files of the state, from one listing and one footer per store.

        The description's `problems` has what cannot be read.
        """
        return describe(self._storage.once(), self._query)

    def watch(self, *, interval: float | None = None, seconds: float | None = None) -> None:
        """Shows batches, state, skew and hot key groups, anew whenever there is something new.

        In a notebook it shows them in the output of the cell, with plots if Matplotlib is there, in
        a terminal on the screen, and elsewhere it prints a line for each batch. What cannot be read
        is shown, and tried again. docs/watch.md says from which files each figure comes.

        Args:
            interval: seconds from one look to the next: 2, and 5 on an object store, by default.
            seconds: how long to watch. By default until it is interrupted: by Ctrl-C, or by the
                notebook's stop button, neither of which raises an error.

        Raises:
            InvalidArgumentError: one of them is not a time.
        """
        watch(self._storage, interval=interval, seconds=seconds)

    def _repr_html_(self) -> str:
        storage = self._storage.once()
        return notebook(storage, describe(storage, self._query))

    def __repr__(self) -> str:
        """The path it was opened with."""
        return f"Checkpoint({self.path!r})"


def open_checkpoint(
    path: str | PathLike[str], *, storage_options: Mapping[str, Any] | None = None
) -> Checkpoint:
    """Opens the checkpoint folder of a streaming query. It writes nothing and needs no JVM.

    Args:
        path: the query's `checkpointLocation`: a local path, or a URI such as `s3://bucket/folder`.
        storage_options: endpoint, region and credentials of an object store, with the names of
            Polars and delta-rs: for S3 `aws_endpoint_url`, `aws_region`, `aws_access_key_id`,
            `aws_secret_access_key`, `aws_session_token`, and `aws_skip_signature` for anonymous
            access. What is not given is taken from the environment variables of these names. For a
            scheme that fsspec reads, they are the arguments of its file system.

    Raises:
        InvalidArgumentError: `path` is neither, or there is no such option.
        ExtraMissingError: the scheme of `path` needs a package that is not installed.
        NotACheckpointError: the folder is not a checkpoint.
        OtherProviderError: another provider wrote its state.
        StorageError: the storage cannot be reached.
    """
    storage = Storage(path, storage_options)
    return Checkpoint(storage, _checked(storage.once()))


def pipeline_flows(
    path: str | PathLike[str], *, storage_options: Mapping[str, Any] | None = None
) -> tuple[Flow, ...]:
    """The flows of a declarative pipeline, each with the path of its newest checkpoint.

    Args:
        path: `storage` in the pipeline's specification: a local path, or a URI.
        storage_options: see `open_checkpoint`.

    Returns:
        The flows by target and name; none if the folder is no pipeline's, or no flow has run.

    Raises:
        InvalidArgumentError: `path` is neither, or there is no such option.
        ExtraMissingError: the scheme of `path` needs a package that is not installed.
        StorageError: the storage cannot be reached.
    """
    return flows(Storage(path, storage_options).once())


def open_for_command(path: str, storage_options: Mapping[str, Any]) -> Checkpoint:
    """The same for one command, after which it is not used: it asks the storage nothing twice."""
    storage = Storage(path, storage_options).once()
    return Checkpoint(storage, _checked(storage))


def storage_to_watch(path: str, storage_options: Mapping[str, Any]) -> Storage:
    """The storage of a checkpoint that may not be there yet; else raises as `open_checkpoint`."""
    storage = Storage(path, storage_options)
    once = storage.once()
    once.fetch(listings=["", "commits", "state"])
    if any(once.listing(it) for it in ("", "commits", "state")):
        _checked(once)
    return storage


def open_or_list(path: str, storage_options: Mapping[str, Any]) -> Checkpoint | tuple[Flow, ...]:
    """The same, or the flows if it is the storage folder of a pipeline."""
    storage = Storage(path, storage_options).once()
    try:
        return Checkpoint(storage, _checked(storage))
    except NotACheckpointError:
        if found := flows(storage):
            return found
        raise


def require_checkpoint(path: str) -> None:
    """Raises NotACheckpointError if a path is no checkpoint, before Spark is started for it."""
    _query_of(Storage(path).once())


def _query_of(storage: Storage) -> str | None:
    try:
        return query_id(storage)
    except (FileMissingError, CheckpointDamagedError) as error:
        if batches(storage, "offsets") or batches(storage, "commits"):
            return None
        if found := flows(storage):
            raise NotACheckpointError(
                f"{storage.root} is the storage folder of a pipeline, whose flows have a "
                f"checkpoint each: give the path of one, such as {found[0].checkpoint}. "
                f"`keyfold describe {shlex.quote(storage.root)}` lists them."
            ) from error
        why = str(error.args[0])
        if isinstance(error, FileMissingError):
            there = any(storage.listing(it) for it in ("", "commits", "state"))
            why = (
                f"it has no file `metadata`. {why}"
                if there
                else "there is no such folder, or nothing in it."
            )
        raise NotACheckpointError(
            f"{storage.root} is not the checkpoint of a streaming query: {why} Use the "
            "query's checkpointLocation, the folder that holds `metadata`, `offsets` and `commits`."
        ) from error


def _checked(storage: Storage) -> str | None:
    """Id of the query, if it can be read; raises an error if its state cannot be read."""
    storage.fetch(["metadata"], ["commits", "state"])
    query = _query_of(storage)
    provider = read_progress(storage).provider
    if provider not in (None, PROVIDER_CLASS):
        raise OtherProviderError(
            f"The state in {storage.root} was written by {provider}. Keyfold reads checkpoints of "
            "queries that were started with it. To move the state to it, stop the query and run "
            f"`keyfold migrate {shlex.quote(storage.root)} --apply`."
        )
    return query
