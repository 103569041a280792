"""Nexmark's page says of each figure how it compares, and of each query what became of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.nexmark import cases as made
from bench.nexmark.cases import AFTER, BEFORE, Case, Size, cases
from bench.nexmark.figures import FIGURES, percentile
from bench.nexmark.page import page
from bench.nexmark.queries import QUERIES, STATEFUL
from bench.nexmark.stores import NOTHING, OURS, ROCKSDB, STORES
from bench.results import Results

SIZE = Size(4, 1000, 1, 3)
OF_OURS = Case("q3", OURS, SIZE)
FOUND = {"ms": [100, 200, 300], "state_rows": 7, "bytes": 10, "written": 30, "restart_s": 1.0}


@pytest.fixture
def results(tmp_path: Path) -> Results[Case]:
    there = made.results(tmp_path / "results.jsonl")
    there.add(OF_OURS, FOUND)
    there.add(replace(OF_OURS, store=ROCKSDB), FOUND | {"ms": [400, 400, 400]})
    there.add(replace(OF_OURS, store=NOTHING), {"error": "it was out of memory"})
    return there


def test_figures_say_how_many_times_better_ours_are(results: Results[Case]) -> None:
    text = page(results)
    assert "| query | Keyfold | RocksDB | HDFSBacked | no store |" in text
    assert "| q3 | 5,000 | 2,500<br>2.00x | not run | failed |" in text
    assert "| q3 | 200 | 400<br>2.00x | not run | failed |" in text
    assert "| q3 | 7 | 7 | not run | failed |" in text


def test_the_page_has_every_query_and_why_one_is_left_out() -> None:
    assert [it.name for it in QUERIES] == [f"q{it}" for it in range(23)]
    assert [it.name for it in QUERIES if not it.sql] == ["q6"]
    assert all(it.note for it in QUERIES)


def test_each_query_with_state_is_measured_with_each_provider() -> None:
    size = Size.of(4, 1)
    found = list(cases([it.name for it in STATEFUL], list(STORES), size))
    steady = {(it.query, it.store) for it in found if not it.to}
    assert steady == {(query.name, store) for query in STATEFUL for store in STORES}
    rescaled = {(it.store, it.size.partitions, it.to) for it in found if it.to}
    assert rescaled == {(it, BEFORE, AFTER) for it in (OURS, ROCKSDB)}


def test_a_case_that_failed_is_run_again(results: Results[Case]) -> None:
    assert results.of(OF_OURS) == FOUND
    assert results.of(replace(OF_OURS, store=NOTHING)) is None


def test_of_few_batches_the_99th_percentile_is_the_longest() -> None:
    assert percentile([3, 1, 2], 0.99) == 3
    assert percentile(list(range(1, 201)), 0.99) == 198
    assert {it.name for it in FIGURES} >= {"Milliseconds a batch, p99"}
