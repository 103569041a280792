"""Bytes that Keyfold's deltas, merged deltas and snapshots take: its plan of merges, simulated.

Follows `MergePlan` and `Snapshots` of the Scala core for one partition whose batches each change
as many rows at random; sizes are those that are expected.
"""

import math
from dataclasses import dataclass
from typing import Final

GROWTH: Final = 0.9
"""A merged delta is merged again up to this share of the bytes of what is newer."""
LEFT: Final = 2
"""All but so many of the files that a load may read stay merged deltas at most, or two."""


@dataclass(frozen=True)
class Workload:
    """Batches of `changed` rows each of a partition with `rows`; sizes in bytes.

    `row` and `file` are of a snapshot, a row of a delta has `delta_row`.
    """

    rows: int
    changed: int
    row: float
    delta_row: float
    file: float
    batches_to_maintenance: int = 5
    files_to_merge: int = 10
    share: float = 0.5
    retained: int = 100

    def size(self, batches: int) -> float:
        """Bytes of the changes of so many batches; a row that changed twice counts once."""
        distinct = self.rows * -math.expm1(-batches * self.changed / self.rows)
        dense = self.delta_row if batches == 1 else self.row
        return distinct * dense + self.file

    @property
    def snapshot(self) -> float:
        """Bytes of all rows."""
        return self.rows * self.row + self.file


@dataclass(frozen=True, eq=False)
class _File:
    version: int
    batches: int
    size: float
    below: tuple["_File", ...] = ()


@dataclass
class Written:
    """What was written, bytes a batch; the most that a checkpoint had, and files of a load.

    `tiers` is the number of merged deltas and snapshots, a batch.
    """

    commits: float = 0
    merges: float = 0
    snapshots: float = 0
    checkpoint: float = 0
    files: int = 0
    tiers: float = 0

    @property
    def bytes(self) -> float:
        """All of it."""
        return self.commits + self.merges + self.snapshots

    @property
    def amplification(self) -> float:
        """Of what the commits alone write."""
        return self.bytes / self.commits


def written(workload: Workload, cycles: int = 3) -> Written:
    """Simulate so many cycles between snapshots, and a few times the retained versions.

    A first cycle comes before, which does not count.
    """
    snapshot = _File(0, 0, workload.snapshot)
    lineage: list[_File] = []
    kept = {snapshot}
    found, version, snapshots, begun = Written(), 0, 0, 0
    while snapshots <= cycles or version - begun < 3 * workload.retained:
        version += 1
        delta = _File(version, 1, workload.size(1))
        lineage.insert(0, delta)
        kept.add(delta)
        found.commits += delta.size
        found.files = max(found.files, len(lineage) + 1)
        if version % workload.batches_to_maintenance == 0:
            tier = _due(workload, version, lineage, snapshot)
            if tier is not None:
                kept.add(tier)
                found.tiers += 1
                if tier.batches == 0:
                    lineage, snapshot = [], tier
                    snapshots += 1
                    found.snapshots += tier.size
                    if snapshots == 1:
                        found, begun = Written(), version
                else:
                    lineage = [tier, *tier.below[:-1]]
                    found.merges += tier.size
                found.checkpoint = max(found.checkpoint, sum(it.size for it in kept))
                kept = _retained(kept, version - workload.retained)
    batches = version - begun
    found.commits /= batches
    found.merges /= batches
    found.snapshots /= batches
    found.tiers /= batches
    return found


def least_rewrites(tiers: int, files: int) -> float:
    """How often a row is written again, on average, by the best of all plans.

    One that knows from the start how many times maintenance will come, `tiers`, each with as many
    deltas, and that never leaves more than so many merged deltas. The oldest of them has the first
    so many tiers: up to the one before the last of these, the same question; then all of them are
    written; what comes after has one file less.
    """
    least = [0.0] + [math.inf] * tiers
    for _ in range(files):
        before, least = least, [0.0]
        for n in range(1, tiers + 1):
            least.append(min(least[m - 1] + m + before[n - m] for m in range(1, n + 1)))
    return least[tiers] / tiers


def _due(workload: Workload, version: int, lineage: list[_File], snapshot: _File) -> _File | None:
    """The merged delta or snapshot that maintenance writes now."""
    if len(lineage) < workload.files_to_merge:
        return None
    if sum(it.size for it in lineage) >= workload.share * snapshot.size:
        return _File(version, 0, workload.snapshot)
    deltas = next((i for i, it in enumerate(lineage) if it.batches > 1), len(lineage))
    chosen, older = lineage[:deltas], lineage[deltas:]
    while older and (
        len(older) >= max(workload.files_to_merge - LEFT, 2)
        or older[0].size <= GROWTH * sum(it.size for it in chosen)
    ):
        chosen.append(older.pop(0))
    if len(chosen) == 1:
        return None
    batches = sum(it.batches for it in chosen)
    return _File(version, batches, workload.size(batches), (*older, snapshot))


def _retained(files: set[_File], oldest: int) -> set[_File]:
    """The files that are there after a cleanup, which keeps the versions from `oldest` on."""
    tiers = [it for it in files if it.batches != 1 and it.version <= oldest]
    if not tiers:
        return files
    base = max(tiers, key=lambda it: (it.version, it.batches == 0))
    return {it for it in files if it.version > base.version} | {base, *base.below}
