"""What one run of the demo has found out, collected for the summary."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from demo.batches import Batch
from demo.compare import Verdict
from demo.replay import Replayed
from demo.requests import Counts
from demo.workspace import FILES

# What requests are counted for.
STREAMING, RESCALING, LOOKING = "stream", "rescale", "look inside"


@dataclass(frozen=True)
class Rescaled:
    """A query's number of partitions before and after, and the milliseconds the change took."""

    query: str
    before: int
    after: int
    ms: int


@dataclass
class Record:
    """Facts about a run, filled in as it goes."""

    provider: str
    source: str = FILES
    sink: str = FILES
    replayed: Replayed = field(default_factory=lambda: Replayed(0, 0, 0))
    seconds: dict[str, float] = field(default_factory=dict)
    batches: list[Batch] = field(default_factory=list)
    # Batches per query at the end, from the checkpoint: some progress records die with the driver.
    finished: dict[str, int] = field(default_factory=dict)
    # Per query, the batch it was in when the driver was killed; nothing if it was not killed.
    killed_in: dict[str, int | None] = field(default_factory=dict)
    # Twice per query, in the order of time.
    rescaled: list[Rescaled] = field(default_factory=list)
    # Per query, the first batch the second driver ran.
    resumed: dict[str, int] = field(default_factory=dict)
    state_file_bytes: dict[str, int] = field(default_factory=dict)
    # Whether the checkpoints were described from Python.
    described: bool = False
    verdicts: list[Verdict] = field(default_factory=list)
    # How long each request was held back.
    delay_ms: float = 0
    # Per activity; nothing if the checkpoints are on a local disk.
    requests: defaultdict[str, Counts] = field(default_factory=lambda: defaultdict(Counter))

    @property
    def exact(self) -> bool:
        """Whether every comparison was made and found both sides equal."""
        return bool(self.verdicts) and all(verdict.exact for verdict in self.verdicts)

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Take down how long a phase lasts, in seconds."""
        begin = time.monotonic()
        yield
        self.seconds[phase] = time.monotonic() - begin
