"""What is known of a checkpoint before it is judged, and how fast its batches follow each other."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.describe.batch_table import batch_table
from keyfold.doctor.operator_state import OperatorState
from keyfold.errors import KeyfoldError
from keyfold.format.footer import total
from keyfold.settings import STRICT_KEY
from keyfold.spark_log.batch import Batch
from keyfold.spark_log.logs import operators, read_operator
from keyfold.spark_log.migrated import own_batches
from keyfold.state.walk import Walk
from keyfold.storage.storage import Storage

# Fewer say too little.
LEAST_BATCHES = 10

# Batches whose files tell what a batch writes: retention keeps those of at least as many.
_RECENT = 20
# Bytes that a row takes in memory beside its own, and the reserve: docs/cluster.md, Sizing.
_BESIDE_ROW = 40
_RESERVE = 1.25


@dataclass(frozen=True)
class Pace:
    """Committed batches with the number of partitions that the last one has, and their times in ms.

    Attributes:
        batches: their numbers, ascending, without a gap.
        mean_ms: from the start of one to the start of the next, with all the time between runs;
            None if there are fewer than ten.
        median_ms: the same within runs.
        duration_ms: the median of how long they took; None if that is not known.
        has_watermark: whether one of them had a watermark.
    """

    batches: range
    mean_ms: float | None
    median_ms: float | None
    duration_ms: float | None
    has_watermark: bool


def pace_of(table: pa.Table) -> Pace:
    """The pace of batches, from the table of all of them."""
    rows: list[dict[str, Any]] = []
    for row in reversed([it for it in table.to_pylist() if it["committed"]]):
        if rows and (
            row["batch_id"] != rows[-1]["batch_id"] - 1
            or row["partitions"] != rows[-1]["partitions"]
        ):
            break
        rows.append(row)
    rows.reverse()
    starts = [it["started_ms"] for it in rows]
    took = [it["duration_ms"] for it in rows if it["duration_ms"] is not None]
    apart = [] if None in starts else [b - a for a, b in pairwise(starts)]
    is_known = len(rows) >= LEAST_BATCHES and bool(apart) and min(apart) >= 0 and sum(apart) > 0
    return Pace(
        batches=range(rows[0]["batch_id"], rows[-1]["batch_id"] + 1) if rows else range(0),
        mean_ms=sum(apart) / len(apart) if is_known else None,
        median_ms=max(median(apart), 1.0) if is_known else None,
        duration_ms=median(took) if is_known and took else None,
        has_watermark=any(it["watermark_ms"] for it in rows),
    )


@dataclass(frozen=True, eq=False)
class Exam:
    """A checkpoint at its last batch.

    Attributes:
        storage: the checkpoint.
        batch: the last one.
        operators: those whose description can be read.
        pace: of its batches.
        commits: the batches in the commit log whose state is Keyfold's, ascending.
        errors: why something could not be read.
        cores: of all executors together, as the user says; None if not said.
        budget_bytes: the budgets of all executors together, as the user says; None if not said.
    """

    storage: Storage
    batch: Batch
    operators: tuple[OperatorState, ...]
    pace: Pace
    commits: tuple[int, ...]
    errors: tuple[KeyfoldError, ...]
    cores: int | None
    budget_bytes: int | None

    @property
    def path(self) -> str:
        """The path for a shell."""
        return shlex.quote(self.storage.root)

    @cached_property
    def spread(self) -> list[OperatorState]:
        """The operators that run in as many tasks as the query has partitions."""
        return [it for it in self.operators if it.is_spread and it.partitions]

    @property
    def partitions(self) -> int:
        """The query's number of partitions; 0 if no operator has more than one."""
        return max((len(it.partitions) for it in self.spread), default=0)

    @property
    def is_strict(self) -> bool:
        """Whether rows are where their hashes say, which a rescale requires of the offset log."""
        offsets = self.batch.offsets
        return offsets is None or offsets.conf.get(STRICT_KEY) == "true"

    @property
    def is_movable(self) -> bool:
        """Whether a rescale moves the state, as far as the files say."""
        return self.is_strict and not any(it.not_movable for it in self.operators)

    @property
    def recent(self) -> range:
        """The versions of recent batches, which were made with the same number of partitions."""
        last = self.pace.batches[-_RECENT:]
        return range(last.start + 1, last.stop + 1)

    @cached_property
    def values(self) -> int | None:
        """Values in the whole state; None if not known."""
        return total(it for operator in self.operators for it in operator.values)

    @cached_property
    def live_bytes(self) -> int | None:
        """Bytes of keys and values in the whole state; None if not known."""
        return total(it for operator in self.operators for it in operator.bytes)

    @property
    def disk_bytes(self) -> int:
        """Bytes of all files of the state."""
        return sum(it.disk_bytes for it in self.operators)

    @property
    def memory_bytes(self) -> int | None:
        """Memory in which all of the state would be; None if not known."""
        if self.values is None or self.live_bytes is None:
            return None
        return int(_RESERVE * (self.live_bytes + _BESIDE_ROW * self.values))


def examine(storage: Storage, batch: Batch, cores: int | None, budget_bytes: int | None) -> Exam:
    """Reads the logs, a listing and a head of each store; raises StorageError."""
    errors: list[KeyfoldError] = []
    found = []
    for number in operators(storage):
        try:
            metadata = read_operator(storage, number, batch.number)
            state = OperatorState(metadata, Walk(storage, batch).parts(metadata))
        except KeyfoldError as error:
            errors.append(error)
            continue
        errors += [it.error for it in state.parts if it.error is not None]
        found.append(state)
    return Exam(
        storage=storage,
        batch=batch,
        operators=tuple(found),
        pace=pace_of(batch_table(storage)),
        commits=tuple(own_batches(storage)),
        errors=tuple(errors),
        cores=cores,
        budget_bytes=budget_bytes,
    )
