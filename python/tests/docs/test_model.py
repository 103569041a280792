"""The model of larger clusters follows the plan of merges that the engine has."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from bench.model.measured import Costs
from bench.model.merges import GROWTH, LEFT, Workload, least_rewrites, written
from bench.model.plan import Cluster, Query, batch_s, restart_s

PLAN: Final = Path(__file__).parents[3] / (
    "jvm/core/src/main/scala/io/keyfold/store/merge/MergePlan.scala"
)
WORKLOAD: Final = Workload(100_000, 100, row=16, delta_row=20, file=500)
COSTS: Final = Costs("one", 1e-6, 0, 1e-5, 1e-7, None, requests=2, load_requests=10, memory=100)
CLUSTER: Final = Cluster(2, 4, budget=50_000_000, latency=0.1, bandwidth=1e6)
QUERY: Final = Query(1_000_000, 80_000, 16, 10, row=16, beside=0)


def test_the_numbers_of_the_plan_are_those_of_the_engine() -> None:
    plan = PLAN.read_text(encoding="utf-8")
    assert re.findall(r"Growth = ([\d.]+)", plan) == [str(GROWTH)]
    assert re.findall(
        r"withNewest\(lineage, deltas, merged, math\.max\(most - (\d+), 2\)\)", plan
    ) == [str(LEFT)]


@pytest.mark.parametrize("batches", [1, 5, 10])
def test_a_load_reads_few_files_however_often_maintenance_comes(batches: int) -> None:
    found = written(replace(WORKLOAD, batches_to_maintenance=batches))
    assert found.files <= 1 + WORKLOAD.files_to_merge + batches


@pytest.mark.parametrize("batches", [5, 10])
def test_merges_write_hardly_more_than_the_best_of_all_plans(batches: int) -> None:
    # A snapshot comes after 1,000 batches; hardly a row changes twice until then.
    some = Workload(50_000_000, 2_500, 16, 16, 0, batches_to_maintenance=batches, share=0.05)
    found = written(some)
    least = least_rewrites(1_000 // batches, some.files_to_merge - LEFT)
    assert found.merges / found.commits == pytest.approx(least, rel=0.1)


def test_the_best_of_all_plans_is_what_trying_each_of_them_finds() -> None:
    def best(left: int, sizes: tuple[int, ...], files: int) -> float:
        if left == 0:
            return 0
        plans = [(sum(sizes[:i]) + 1, *sizes[i:]) for i in range(len(sizes) + 1)]
        return min(it[0] + best(left - 1, it, files) for it in plans if len(it) <= files)

    for tiers, files in itertools.product(range(1, 8), range(1, 4)):
        assert least_rewrites(tiers, files) == pytest.approx(best(tiers, (), files) / tiers)


def test_without_a_share_each_maintenance_writes_all_rows() -> None:
    found = written(replace(WORKLOAD, share=0))
    assert found.merges == 0
    assert found.commits == pytest.approx(100 * 20 + 500, rel=0.001)
    assert found.snapshots == pytest.approx((100_000 * 16 + 500) / 10)
    # Of the oldest retained version, the newest, and those between.
    assert found.checkpoint == pytest.approx(12 * 1_600_500 + 110 * 2_500, rel=0.05)


def test_a_batch_takes_cores_and_requests_and_what_is_beyond_memory_is_dearer() -> None:
    # 100 MB of state, all in memory: 80,000 rows over 8 cores, two rounds of two requests.
    assert batch_s(QUERY, CLUSTER, COSTS) == pytest.approx(0.01 + 0.4)
    half = replace(CLUSTER, budget=25_000_000)
    assert batch_s(QUERY, half, COSTS) == pytest.approx(0.01 * (0.5 + 5) + 0.4)
    assert batch_s(QUERY, half, replace(COSTS, cold=None)) is None


def test_a_restart_takes_requests_bytes_and_rows() -> None:
    assert restart_s(QUERY, CLUSTER, COSTS, 16e6) == pytest.approx(2 + 8 + 0.0125)
