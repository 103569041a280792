"""The log of a Delta table: a file of actions for each version, and checkpoints of it.

A streaming query writes `txn` with its id as `appId` and the batch as `version`, also for a batch
without rows. Delta skips a batch that is not newer than the last `txn` of the id.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import pyarrow.parquet as pq  # type: ignore[import-untyped]

from keyfold.errors import InvalidArgumentError
from keyfold.sinks.table_log import TableVersion, damaged
from keyfold.storage.files import Listed
from keyfold.storage.ranged_file import RangedFile
from keyfold.storage.storage import Storage
from keyfold.text.json_text import parse_object

T = TypeVar("T")
_LOG = "_delta_log"
_COMMIT = re.compile(r"(\d{20})\.json")
# Of one file, of one of several parts, or of one file under a name of its own.
_CHECKPOINT = re.compile(
    r"(\d{20})\.checkpoint(?:\.\d{10}\.(\d{10})|\.[0-9A-Fa-f-]{36})?\.(?:parquet|json)"
)
# Most lines of a commit, and of no interest here. A line ends with a line feed: other ends of lines
# may be in the values of columns.
_FILES = ('{"add"', '{"remove"', '{"cdc"')
_AT_A_TIME = 32
# Of a checkpoint, which has all files of the table. Its other files have no other columns.
_COLUMNS = ["txn", "protocol", "metaData.configuration"]
# Of the table, in each version that changes them.
_OF_TABLE = ("protocol", "metaData")
# With one of these, the newest commits are not in the log but with a catalog.
_OF_CATALOGS = {"catalogManaged", "catalogOwned-preview", "coordinatedCommits-preview"}
_RETENTION = "delta.deletedFileRetentionDuration"
_FORGETS = "delta.setTransactionRetentionDuration"
_PERIOD = re.compile(r"(\d{1,9})\s*(week|day|hour|minute|second)", re.IGNORECASE)
_MS = {"week": 604_800_000, "day": 86_400_000, "hour": 3_600_000, "minute": 60_000, "second": 1000}


class DeltaLog:
    """The log of a table. A commit is read when it is asked for, and once."""

    format = "delta"
    # The SQL that takes a table back to a version of `history`, and forward again.
    restore = undo = "RESTORE TABLE delta.`{name}` TO VERSION AS OF {version}"

    def __init__(self, storage: Storage, files: Sequence[Listed]) -> None:
        """`files` are those in the log."""
        self._storage = storage
        self._sizes = {it.name: it.size for it in files}
        commits = {int(found[1]) for it in self._sizes if (found := _COMMIT.fullmatch(it))}
        newest = max(commits, default=-1)
        oldest = newest
        while oldest - 1 in commits:
            oldest -= 1
        self._commits = range(newest, oldest - 1, -1) if commits else range(0)
        self._checkpoints = _checkpoints(list(self._sizes))
        self._read: dict[int, TableVersion] = {}
        self._of_table: dict[str, dict[int, Any]] = {name: {} for name in _OF_TABLE}

    def applications(self) -> dict[str, int]:
        """The newest batch of each application id: of the newest checkpoint and commits after it.

        Raises InvalidArgumentError if the log has not all commits.
        """
        base = max((it for it in self._checkpoints if self._follows(it)), default=-1)
        found: dict[str, int] = {}
        for version in self._versions([it for it in self._commits if it > base]):
            found = version.batches | found
        for part in self._checkpoints.get(base, []):
            for action in self._actions(f"{_LOG}/{part}"):
                if (txn := action.get("txn")) is not None:
                    found = self._transaction(f"{_LOG}/{part}", txn) | found
                self._note(base, action)
        self._require_commits()
        return found

    def history(self) -> Iterator[TableVersion]:
        """All versions, newest first, until one that the log has lost.

        A RESTORE takes back those since the version that it went to.
        """
        leads = self._commits.start
        for it in self._versions(self._commits):
            if it.version > leads:
                yield replace(it, taken_back=True)
            else:
                yield it
                leads = it.parent

    def branches(self) -> dict[str, set[tuple[str, int]]]:
        """A table of Delta has no branches."""
        return {}

    def can_restore(self, version: int) -> bool:
        """Whether there is a checkpoint, or the very first commit, from which it can be made."""
        oldest = self._commits[-1]
        return oldest == 0 or any(oldest - 1 <= it <= version for it in self._checkpoints)

    def forgets_ids(self) -> bool:
        """Whether `applications` may lack ids that versions have. To ask after it."""
        return _FORGETS in self._properties()

    def is_outdated(self, version: TableVersion) -> bool:
        """Whether the table need not keep its files: Delta 4.1 and later do not restore it then.

        For a table of which `applications` was asked.
        """
        periods = _PERIOD.findall(str(self._properties().get(_RETENTION))) or [("1", "week")]
        kept = sum(int(number) * _MS[unit.lower()] for number, unit in periods)
        return version.time is not None and version.time < time.time() * 1000 - kept

    def _note(self, version: int, action: dict[str, Any]) -> None:
        for name, its in self._of_table.items():
            if isinstance(action.get(name), dict):
                its[version] = action[name]

    def _newest(self, name: str) -> dict[str, Any]:
        its = self._of_table[name]
        found: dict[str, Any] = its[max(its)] if its else {}
        return found

    def _properties(self) -> dict[str, Any]:
        its = self._newest("metaData").get("configuration")
        return its if isinstance(its, dict) else {}

    def _require_commits(self) -> None:
        protocol = self._newest("protocol")
        its = [protocol.get("readerFeatures"), protocol.get("writerFeatures")]
        features = {name for names in its if isinstance(names, list) for name in names}
        if moved := sorted(features & _OF_CATALOGS):
            raise InvalidArgumentError(
                f"Invalid folder of the table: {self._storage.root} is a Delta table with the "
                f"feature {moved[0]}, whose newest commits only its catalog knows. Leave "
                "--sink-path out, and take the table back yourself before the query starts: "
                "DESCRIBE HISTORY shows queryId and epochId, the batch, of each version."
            )

    def _follows(self, checkpoint: int) -> bool:
        """Whether all commits after a checkpoint are there."""
        return bool(self._commits) and self._commits[-1] - 1 <= checkpoint

    def _versions(self, numbers: Sequence[int]) -> Iterator[TableVersion]:
        for start in range(0, len(numbers), _AT_A_TIME):
            some = numbers[start : start + _AT_A_TIME]
            missing = [it for it in some if it not in self._read]
            found = self._storage.side_by_side(self._version, missing)
            self._read.update(zip(missing, found, strict=True))
            yield from map(self._read.__getitem__, some)

    def _version(self, number: int) -> TableVersion:
        path = f"{_LOG}/{number:020}.json"
        batches: dict[str, int] = {}
        operation, replaces, restores, at = "", False, None, None
        for action in self._lines(path):
            if isinstance(info := action.get("commitInfo"), dict):
                operation = str(info.get("operation", ""))
                at = info.get("inCommitTimestamp", info.get("timestamp"))
                parameters = info.get("operationParameters")
                if isinstance(parameters, dict):
                    replaces = parameters.get("outputMode") == "Complete"
                    back_to = str(parameters.get("version"))
                    if operation == "RESTORE" and back_to.isdecimal():
                        restores = int(back_to)
            if "txn" in action:
                batches |= self._transaction(path, action["txn"])
            self._note(number, action)
        at = at if isinstance(at, int) else None
        parent = number - 1 if restores is None else restores
        return TableVersion(number, operation, batches, replaces, restores, parent, at)

    def _actions(self, path: str) -> list[dict[str, Any]]:
        """Those of a file of a checkpoint; of Parquet, ids and what is of the table."""
        if path.endswith(".json"):
            return self._lines(path)
        with self._storage.open(path, self._sizes[path.rpartition("/")[2]]) as source:
            file = RangedFile(source)
            try:
                table = pq.ParquetFile(file, pre_buffer=True).read(columns=_COLUMNS)
                columns = zip(table.column_names, table.columns, strict=True)
                found = [{name: it} for name, its in columns for it in its.drop_null().to_pylist()]
                for it in (action["metaData"] for action in found if "metaData" in action):
                    it["configuration"] = dict(it["configuration"] or ())
            except (OSError, TypeError, ValueError) as error:
                if file.failed:
                    raise
                raise damaged(self._storage, path, str(error).strip()) from error
        return found

    def _lines(self, path: str) -> list[dict[str, Any]]:
        """The actions of a file of JSON, without those of data files."""
        text = self._storage.whole(path).decode(errors="replace")
        lines = [it for it in text.split("\n") if it.strip()]
        # A file that breaks off lacks the ids that came after: its last line shows it.
        self._parsed(path, lines[-1:], json.loads)
        return self._parsed(path, (it for it in lines if not it.startswith(_FILES)), parse_object)

    def _parsed(self, path: str, lines: Iterable[str], parse: Callable[[str], T]) -> list[T]:
        try:
            return [parse(it) for it in lines]
        except (ValueError, RecursionError) as error:
            what = f"it has a line that is not an object of JSON: {error}"
            raise damaged(self._storage, path, what) from error

    def _transaction(self, path: str, txn: Any) -> dict[str, int]:  # noqa: ANN401 - JSON
        try:
            return {str(txn["appId"]): int(txn["version"])}
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(self._storage, path, "it has a `txn` without id or version") from error


def delta_log(storage: Storage) -> DeltaLog | None:
    """The log of a table; None if there is none. Raises StorageError."""
    files = storage.listing(_LOG)
    return DeltaLog(storage, files) if any(_COMMIT.fullmatch(it.name) for it in files) else None


def _checkpoints(names: Sequence[str]) -> dict[int, list[str]]:
    """The files of each checkpoint that is whole."""
    found: dict[int, list[str]] = {}
    parts: dict[tuple[int, int], list[str]] = {}
    for name in names:
        if it := _CHECKPOINT.fullmatch(name):
            version = int(it[1])
            if it[2] is None:
                found[version] = [name]
            else:
                parts.setdefault((version, int(it[2])), []).append(name)
    whole = {version: its for (version, count), its in parts.items() if len(its) == count}
    return whole | found
