"""A real Prometheus reads two executors by the files in conf/prometheus: names, values, alerts."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cluster.metered_application import APPLICATION, LABELS, TIMEOUT_S, Metered
from cluster.metered_input import FILES, NUMBERS
from cluster.metered_values import wrong_bounds, wrong_values
from cluster.metrics_job import PLACED, TOTALS, WINDOWS
from kit.dashboard import expressions, panels
from kit.metrics_contract import contract
from kit.servers.prometheus import faster
from kit.submit import PARTITIONS, Spark

RESCALED = 6
# The budget is so small that it may fire whenever rows are written.
SPILLED = {"KeyfoldStateSpilled"}
# Those of Prometheus itself.
OWN_LABELS = {"job", "instance"}


@pytest.fixture
def metered(tmp_path: Path, spark: Spark) -> Iterator[Metered]:
    with closing(Metered(tmp_path, spark)) as metered:
        yield metered


@pytest.mark.long
@pytest.mark.timeout(900)
def test_each_metric_is_true_panels_have_data_and_faults_fire_alerts(metered: Metered) -> None:
    # The first query has one more batch, without input, that removes what the watermark has passed.
    metered.wait_for({WINDOWS: FILES, TOTALS: FILES - 1, PLACED: FILES - 1})
    metered.settle(lambda: wrong_values(metered))
    assert wrong_bounds(metered) == []
    assert metered.prometheus.alerts() <= SPILLED

    fail_files(metered)
    metered.settle(lambda: wrong_retries(metered))
    metered.wait(lambda: metered.prometheus.alerts() <= SPILLED, "the end of it")

    lose_executors_and_a_snapshot(metered)
    metered.wait(lambda: "KeyfoldSnapshotFallback" in metered.prometheus.alerts(), "the alert")

    rescale(metered)
    metered.wait(lambda: wrong_labels(metered) == [], "all metrics")
    names = [f"max_over_time({it}[10m])" for it in contract()]
    never = [it for it in names if not any(value > 0 for _, value in metered.prometheus.all(it))]
    assert never == []
    assert list(asked_in_vain(metered)) == []

    (metered.folder / "stop").touch()
    assert metered.program.wait() == 0
    metered.wait(lambda: "KeyfoldDriverDown" in metered.prometheus.alerts(), "the alert")


def fail_files(metered: Metered) -> None:
    """Takes the folder of a partition away for a second of each batch, until the alert fires."""
    store = metered.checkpoint(TOTALS) / "state" / "0" / "0"
    away = metered.folder / "away"

    def fires() -> bool:
        batch = metered.last_batch(TOTALS) + 1
        store.rename(away)
        store.touch()
        metered.input.add(TOTALS, [{"key": it} for it in range(NUMBERS)])
        offsets = metered.checkpoint(TOTALS) / "offsets" / str(batch)
        metered.wait(offsets.exists, "a batch")
        time.sleep(1)
        store.unlink()
        away.rename(store)
        metered.wait(lambda: metered.last_batch(TOTALS) == batch, "the batch")
        return "KeyfoldFileRetries" in metered.prometheus.alerts()

    metered.wait(fires, "the alert")


def wrong_retries(metered: Metered) -> list[str]:
    """The executors have logged each."""
    logs = metered.folder.glob("spark-*/work/*/*/stderr")
    said = sum(
        len(re.findall(r"WARN RetryingBlobStore: .* retrying in", it.read_text())) for it in logs
    )
    values = (
        metered.value("file_retries_total", TOTALS, 0),
        metered.value("executor_file_retries_total"),
    )
    # A commit that is repeated waits for a tenth of a second.
    slowest = metered.prometheus.value("max(keyfold_executor_commit_seconds_max)") or 0
    is_right = said > 0 and values == (said, said) and slowest >= 0.1
    return [] if is_right else [f"{said} expected, {values}; the slowest commit: {slowest} s"]


def lose_executors_and_a_snapshot(metered: Metered) -> None:
    """All stores are loaded again, one from other files."""
    stores = sorted((metered.checkpoint(TOTALS) / "state" / "0").glob("[0-9]*"))
    newest = max(
        (it for it in stores[1].iterdir() if it.suffix in {".snapshot", ".merged"}),
        key=lambda it: int(it.name.partition("_")[0]),
    )
    content = bytearray(newest.read_bytes())
    content[len(content) // 2] ^= 0xFF
    newest.write_bytes(content)
    before = executors(metered)
    for process in metered.executors():
        os.kill(process, signal.SIGKILL)
    # One after the other: what executors say of loads is then of this query.
    metered.input.add(TOTALS, [{"key": 1}])

    def loaded() -> bool:
        values = [
            metered.value(name, TOTALS, 0) for name in ("loads_total", "snapshot_fallbacks_total")
        ]
        of_both = [metered.value(f"executor_{it}_total") for it in ("loads", "snapshot_fallbacks")]
        return values == of_both == [PARTITIONS, 1]

    metered.wait(loaded, "loads by new executors")
    assert before.isdisjoint(executors(metered))
    seconds = metered.value("load_seconds_total", TOTALS, 0)
    [all_s, longest] = [
        metered.value("executor_load_seconds_total"),
        metered.prometheus.value("max(keyfold_executor_load_seconds_max)") or 0,
    ]
    assert 0 < longest <= all_s
    assert all_s == pytest.approx(seconds)


def executors(metered: Metered) -> set[str]:
    """Those that Prometheus shows now."""
    return {it["executor"] for it, _ in metered.prometheus.all("keyfold_executor_stores")}


def rescale(metered: Metered) -> None:
    """Starts a query with more partitions."""
    hidden = metered.folder / "hidden"
    hidden.write_text(str(RESCALED))
    hidden.rename(metered.folder / "rescale")
    metered.input.add_nothing()

    def rescaled() -> bool:
        names = "partitions", "loads_total", "rescaled_loads_total"
        return {metered.value(name, TOTALS, 0) for name in names} == {RESCALED}

    metered.wait(rescaled, "loads by the new partitions")
    assert metered.rows(TOTALS, 0) == metered.value("state_rows", TOTALS, 0)


def wrong_labels(metered: Metered) -> list[str]:
    """Metrics that are not there, are not in the contract, or have other labels than it says."""
    found: dict[str, set[frozenset[str]]] = {}
    for labels, _ in metered.prometheus.all('{__name__=~"keyfold_.+|metrics_.+"}'):
        name = labels.pop("__name__")
        assert labels["application"] == APPLICATION
        assert "query" not in labels or labels["query"] in LABELS.values()
        found.setdefault(name, set()).add(frozenset(labels) - OWN_LABELS)
    wanted = {name: {frozenset(labels)} for name, labels in contract().items()}
    return [f"{it}: {found.get(it)}" for it in wanted | found if found.get(it) != wanted.get(it)]


def asked_in_vain(metered: Metered) -> Iterator[str]:
    """Panels of the dashboard with a query that has shown nothing."""
    for panel in panels():
        for expression in expressions(panel, "15m"):
            if not metered.prometheus.samples(faster(expression), TIMEOUT_S):
                yield f"{panel['title']}: {expression}"
