"""What is known of a checkpoint before it is judged."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property

from keyfold.describe.batch_table import batch_table
from keyfold.doctor.operator_state import OperatorState
from keyfold.doctor.pace import Pace, pace_of
from keyfold.errors import KeyfoldError
from keyfold.format.footer import total
from keyfold.settings import STRICT_KEY
from keyfold.spark_log.batch import Batch
from keyfold.spark_log.logs import operators, read_operator
from keyfold.spark_log.migrated import own_batches
from keyfold.state.walk import Walk
from keyfold.storage.storage import Storage

# Batches whose files tell what a batch writes: retention keeps those of at least as many.
_RECENT = 20
# Bytes that a row takes in memory beside its own, and the reserve: docs/cluster.md, Sizing.
_BESIDE_ROW = 40
_RESERVE = 1.25


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
