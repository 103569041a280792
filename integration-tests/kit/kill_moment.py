"""Moments to kill a driver at, drawn from seeds: an event in its checkpoint, then a delay."""

import random
import re

from kit.checkpoint_place import Folder

PLANNED, COMMITTED = "a batch is planned", "a batch is committed"
DELTA, SNAPSHOT = "a delta is written", "a snapshot or merged delta is written"
REMOVED = "a file of state is removed"
EVENTS = (PLANNED, COMMITTED, DELTA, SNAPSHOT, REMOVED)

OPERATORS = 2
MOST_BATCHES = 3
MOST_DELAY_MS = 1000
STATE_FILE = re.compile(r"(\d+)(?:_[^.]+)?(?:\.\d+)?\.(delta|snapshot|merged)")


class KillMoment:
    """One moment in a run that goes on from where `checkpoint` is now.

    `delay_ms` is the time from the event to the kill. `driver_only` spares the executors, which
    end when they notice: until then they may write, while the next driver starts.
    """

    def __init__(
        self,
        seed: int,
        checkpoint: Folder,
        partitions: int,
        operators: int = OPERATORS,
        batches: int = MOST_BATCHES,
    ) -> None:
        chance = random.Random(seed)  # noqa: S311 - to be repeated, not to be secret
        self._seed = seed
        self._event = chance.choice(EVENTS)
        self._batches = chance.randint(1, batches)
        store = (chance.randrange(operators), chance.randrange(partitions))
        # Half of the kills hit at once, the others anywhere in what comes next.
        self.delay_ms = chance.choice([0, chance.randint(1, MOST_DELAY_MS)])
        self.driver_only = chance.choice([True, False])

        self._checkpoint = checkpoint
        self._planned = last_batch(checkpoint, "offsets")
        self._committed = last_batch(checkpoint, "commits")
        self._store = checkpoint / "state" / str(store[0]) / str(store[1])
        self._seen = state_files(self._store)

    def has_come(self) -> bool:
        """Whether the event has happened since the last call, or since this was made."""
        if self._event == PLANNED:
            return last_batch(self._checkpoint, "offsets") >= self._planned + self._batches
        if self._event == COMMITTED:
            return last_batch(self._checkpoint, "commits") >= self._committed + self._batches
        files = state_files(self._store)
        new, gone = files - self._seen, self._seen - files
        self._seen = files
        if self._event == DELTA:
            # Batch n makes version n + 1.
            version = self._committed + self._batches + 1
            return any(STATE_FILE.sub(r"\1 \2", name) == f"{version} delta" for name in new)
        if self._event == SNAPSHOT:
            return any(name.endswith(("snapshot", "merged")) for name in new)
        return bool(gone)

    @property
    def event(self) -> str:
        """What it waits for, and where."""
        return f"{self._event} (batch {self._committed} + {self._batches}, {self._store})"

    def __str__(self) -> str:
        """What a failure tells."""
        victims = "the driver" if self.driver_only else "driver and executors"
        return f"seed {self._seed}: {victims} killed {self.delay_ms} ms after {self.event}"


def last_batch(checkpoint: Folder, log: str) -> int:
    """The newest batch in the log `offsets` or `commits`; -1 before the first."""
    folder = checkpoint / log
    names = [file.name for file in folder.iterdir()] if folder.is_dir() else []
    return max((int(name) for name in names if name.isdecimal()), default=-1)


def state_files(store: Folder) -> set[str]:
    """Names of a store's files, without those that are still being written."""
    names = {file.name for file in store.iterdir()} if store.is_dir() else set[str]()
    return {name for name in names if STATE_FILE.fullmatch(name)}
