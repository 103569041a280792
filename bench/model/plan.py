"""What a query takes on a cluster, by its formulas."""

from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from bench.model.measured import Costs
from bench.model.merges import Workload, Written, written

DELTAS_TO_SNAPSHOT: Final = 10
"""Of Spark's providers, by default."""
MAINTENANCE_S: Final = 60
"""Spark's interval, by default."""
PUT: Final = 0.005 / 1000
GIB_MONTH: Final = 0.023
"""Dollars: list prices of S3 Standard in its cheapest regions."""
DAY: Final = 86_400


@dataclass(frozen=True)
class Cluster:
    """Executors alike: `budget` bytes for state and `bandwidth` bytes a second each.

    `latency` is seconds of a request to the object store.
    """

    executors: int
    cores: int
    budget: int
    latency: float
    bandwidth: float

    @property
    def all_cores(self) -> int:
        """Of all executors: the tasks that run at the same time."""
        return self.executors * self.cores


@dataclass(frozen=True)
class Query:
    """A count by key: `changed` of `rows` in each batch, one batch every `seconds`.

    `row` is bytes of a row in files, `beside` bytes that a row in memory takes more than the rows
    which the providers were measured with.
    """

    rows: int
    changed: int
    partitions: int
    seconds: float
    row: float
    beside: float


def batch_s(query: Query, cluster: Cluster, costs: Costs) -> float | None:
    """Seconds that the provider adds to a batch; None if its state does not fit anywhere."""
    needed = query.rows * (costs.memory + query.beside)
    warm = min(1.0, cluster.budget * cluster.executors / needed)
    if warm < 1 and costs.cold is None:
        return None
    row = costs.warm * warm + (costs.cold or 0) * (1 - warm)
    work = query.changed * row + query.rows * costs.copied
    return work / cluster.all_cores + requests_s(query.partitions, cluster, costs.requests)


def requests_s(partitions: int, cluster: Cluster, requests: float) -> float:
    """Seconds of requests that a task makes one after the other, and tasks at the same time."""
    return ceil(partitions / cluster.all_cores) * requests * cluster.latency


def restart_s(query: Query, cluster: Cluster, costs: Costs, files: float) -> float:
    """Seconds until each partition has its first answer, of files with so many bytes in all."""
    asked = requests_s(query.partitions, cluster, costs.load_requests)
    read = files / (cluster.executors * cluster.bandwidth)
    return asked + read + query.rows * costs.load / cluster.all_cores


def rescale_s(query: Query, cluster: Cluster, costs: Costs) -> float | None:
    """Seconds of a rescale, without the restart after it; None where there is none."""
    if costs.rescale is None:
        return None
    return query.rows * costs.rescale / cluster.all_cores


def of_keyfold(query: Query, file: float, delta_row: float) -> Written:
    """What Keyfold writes for all partitions, bytes a batch; `files` and `tiers` are of one."""
    workload = Workload(
        query.rows // query.partitions,
        max(query.changed // query.partitions, 1),
        query.row,
        delta_row,
        file,
        batches_to_maintenance=max(1, round(MAINTENANCE_S / query.seconds)),
    )
    one = written(workload, cycles=1)
    return replace(
        one,
        commits=one.commits * query.partitions,
        merges=one.merges * query.partitions,
        snapshots=one.snapshots * query.partitions,
        checkpoint=one.checkpoint * query.partitions,
    )


def of_hdfs(query: Query, delta_row: float) -> Written:
    """What HDFSBacked writes: a delta in each batch, all rows in every tenth."""
    return Written(
        commits=query.changed * delta_row,
        snapshots=query.rows * query.row / DELTAS_TO_SNAPSHOT,
    )


def dollars(query: Query, requests: float, checkpoint: float) -> float:
    """Dollars a day: requests of a batch, each as dear as a PUT, and what is stored."""
    stored = checkpoint / (1 << 30) * GIB_MONTH / 30
    return DAY / query.seconds * requests * PUT + stored
