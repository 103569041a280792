"""Checkpoints with state of any size: only heads are whole files, the others have their length."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keyfold.settings import PROVIDER_CLASS, PROVIDER_KEY, STRICT_KEY
from kit.fake_checkpoint import FakeCheckpoint
from kit.golden.spec import family, link

MIB, GIB = 1 << 20, 1 << 30
BEGIN_MS = 1_700_000_000_000
DAY_S = 24 * 3600


@dataclass
class Patient:
    """A checkpoint of a healthy count: a batch a minute, 4 partitions, 16 MB of state.

    Attributes:
        partitions: of the query.
        batches: that are in the logs.
        last: the last one; by default there were no others.
        interval_ms: from batch to batch.
        took_ms: how long each takes.
        rows: in each partition, or one number for all of them.
        row_bytes: of a row.
        delta_bytes: of the file of a batch in a partition.
        snapshot_every: versions; 0: never.
        attempts: deltas of each version in a partition.
        with_ids: whether it has checkpoint format 2.
        families: other fields of the only family.
        grown: rows of a batch, as a part of those of the last.
        strict: whether the offset log says that rows are where their hashes say.
    """

    root: Path
    partitions: int = 4
    batches: int = 101
    last: int | None = None
    interval_ms: int = 60_000
    took_ms: int = 2_000
    rows: int | Sequence[int] = 100_000
    row_bytes: int = 40
    delta_bytes: int = 100_000
    snapshot_bytes: int = 4 * MIB
    snapshot_every: int = 40
    attempts: int = 1
    with_ids: bool = True
    name: str = "stateStoreSave"
    key_groups: int = 5040
    watermark: bool = False
    families: dict[str, Any] = field(default_factory=dict)
    grown: Callable[[int], float] = lambda _: 1.0
    whole_heads: Sequence[int] = ()
    strict: str = "true"

    @property
    def newest(self) -> int:
        return self.batches - 1 if self.last is None else self.last

    def write(self) -> FakeCheckpoint:
        fake = FakeCheckpoint(self.root)
        fake.partitions = self.partitions
        fake.operator(name=self.name, partitions=self.partitions)
        first = self.newest - self.batches + 1
        for partition in range(self.partitions):
            self._partition(fake, partition, first + 1)
        for batch in range(first, self.newest + 1):
            self._logs(fake, batch)
        return fake

    def unique(self, version: int, partition: int, attempt: int = 0) -> str:
        return f"a{attempt}-{version}-{partition}" if self.with_ids else ""

    def path(self, version: int, partition: int, kind: str = "delta", attempt: int = 0) -> Path:
        unique = self.unique(version, partition, attempt)
        name = f"{version}_{unique}.{kind}" if unique else f"{version}.{kind}"
        return self.root / f"state/0/{partition}/{name}"

    def written_at(self, version: int) -> float:
        return (BEGIN_MS + (version - 1) * self.interval_ms + self.took_ms) / 1000

    def _partition(self, fake: FakeCheckpoint, partition: int, first: int) -> None:
        last = self.newest + 1
        tops = [it for it in range(first, last + 1) if self._is_top(it, first)]
        for version in range(first, last + 1):
            for attempt in range(self.attempts):
                self.sized(
                    self.path(version, partition, attempt=attempt), self.delta_bytes, version
                )
            if version in tops:
                path = self.path(version, partition, "snapshot")
                self.sized(path, self.snapshot_bytes, version)
        for version in {last, *self.whole_heads}:
            top = max((it for it in tops if it < version), default=first)
            below = [
                link(it, "snapshot" if it in tops else "delta", self.unique(it, partition))
                for it in range(version - 1, top - 1, -1)
            ]
            head = fake.state(
                version,
                partition=partition,
                id=self.unique(version, partition),
                keyGroups=self.key_groups,
                partitions=self.partitions,
                lineage=below,
                families=[self._family(partition, version)],
            )
            os.utime(head, (self.written_at(version),) * 2)

    def _is_top(self, version: int, first: int) -> bool:
        if version == first:
            return first > 1
        return bool(self.snapshot_every) and version % self.snapshot_every == 0

    def _family(self, partition: int, version: int) -> dict[str, Any]:
        rows = self.rows if isinstance(self.rows, int) else self.rows[partition]
        rows = int(rows * self.grown(version - 1))
        return family(0, "default", rows, rows * self.row_bytes, **self.families)

    def sized(self, path: Path, length: int, version: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.truncate(length)
        os.utime(path, (self.written_at(version),) * 2)

    def _logs(self, fake: FakeCheckpoint, batch: int) -> None:
        began = BEGIN_MS + batch * self.interval_ms
        conf = {
            "spark.sql.shuffle.partitions": str(self.partitions),
            PROVIDER_KEY: PROVIDER_CLASS,
            STRICT_KEY: self.strict,
        }
        watermark = began - 600_000 if self.watermark else 0
        said = {"batchWatermarkMs": watermark, "batchTimestampMs": began, "conf": conf}
        offsets = fake.write(f"offsets/{batch}", f"v1\n{json.dumps(said)}\n0")
        os.utime(offsets, (began / 1000,) * 2)
        ids = {0: [[self.unique(batch + 1, it)] for it in range(self.partitions)]}
        fake.commit(batch, ids if self.with_ids else None)
        os.utime(self.root / f"commits/{batch}", (self.written_at(batch + 1),) * 2)
