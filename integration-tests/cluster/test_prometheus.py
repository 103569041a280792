"""A real Prometheus reads two executors by the files in conf/prometheus: names, values, alerts."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

import keyfold
from cluster.metered_input import (
    FILES,
    INPUT_ROWS,
    LATE,
    NUMBERS,
    STATE,
    TOTALS_BYTES,
    UPDATED,
    USES,
    Input,
)
from cluster.metrics_job import PLACED, QUERIES, TOTALS, WINDOWS
from keyfold.settings import PLUGIN_CLASS, PLUGINS_KEY, PROMETHEUS_SETTINGS
from kit.dashboard import expressions, panels
from kit.kill_moment import last_batch
from kit.metrics_contract import contract
from kit.program import Program
from kit.servers.prometheus import Labels, Prometheus, faster
from kit.servers.s3 import free_port
from kit.submit import PARTITIONS, Conf, Spark

TIMEOUT_S = 120
POLL_S = 0.2
BUDGET = 1 << 20
RESCALED = 6
APPLICATION = "nightly_orders"
LABELS = {WINDOWS: "orders_operator_1_per_minute", TOTALS: TOTALS, PLACED: PLACED}
# Those of Prometheus itself.
OWN_LABELS = {"job", "instance"}
CONF: Conf = {
    PLUGINS_KEY: PLUGIN_CLASS,
    **PROMETHEUS_SETTINGS,
    "spark.ui.enabled": "true",
    "spark.metrics.namespace": APPLICATION.replace("_", "-"),
    "spark.executor.heartbeatInterval": "1s",
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": 2,
    "spark.sql.streaming.stateStore.maintenanceInterval": "300ms",
    "spark.sql.streaming.stateStore.keyfold.memory.maxBytes": BUDGET,
    # A folder that is away fails many attempts, and no query.
    "spark.task.maxFailures": 1000,
    "spark.excludeOnFailure.enabled": "false",
}
SUMS = ("snapshots", "deltas", "merges")
SUFFIX = {"snapshots": "snapshot", "deltas": "delta", "merges": "merged"}
BYTES = {"snapshots": "snapshot_bytes", "deltas": "delta_bytes", "merges": "merged_bytes"}


class World:
    """An application that runs, and the Prometheus that scrapes it."""

    def __init__(self, folder: Path, spark: Spark) -> None:
        self.folder = folder
        self.input = Input(folder)
        self.port = free_port()
        self.local = folder / "local"
        conf: Conf = {**CONF, "spark.ui.port": self.port, "spark.local.dir": self.local}
        self.program: Program = spark.start("cluster/metrics_job.py", folder, conf=conf)
        self.prometheus = Prometheus(folder / "prometheus", self.port)

    def close(self) -> None:
        self.prometheus.close()

    def checkpoint(self, query: str) -> Path:
        return self.folder / query / "checkpoint"

    def last_batch(self, query: str) -> int:
        return last_batch(self.checkpoint(query), "commits")

    def rows(self, query: str, operator: int) -> int:
        """Of the state, as the checkpoint has it."""
        return keyfold.open_checkpoint(self.checkpoint(query))[operator].only.count()

    def files(self, query: str, operator: int, kind: str) -> list[Path]:
        folder = self.checkpoint(query) / "state" / str(operator)
        return [it for it in folder.glob(f"[0-9]*/[0-9]*.{SUFFIX[kind]}") if it.is_file()]

    def executors(self) -> list[int]:
        return list(self.program.jvms("CoarseGrainedExecutorBackend"))

    def value(self, name: str, query: str | None = None, operator: int | None = None) -> float:
        """Of a metric; the sum of all executors', if it is one of theirs."""
        if query is None:
            expression = f"sum(keyfold_{name})"
        elif operator is None:
            expression = f'keyfold_query_{name}{{query="{LABELS[query]}"}}'
        else:
            its = f'query="{LABELS[query]}", operator="{operator}"'
            expression = f"keyfold_operator_{name}{{{its}}}"
        found = self.prometheus.value(expression)
        return -1 if found is None else found

    def wait(self, happened: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while not happened():
            if time.monotonic() > deadline:
                raise AssertionError(f"Not in {TIMEOUT_S} s: {what}. {self.program.end_of_log}")
            time.sleep(POLL_S)

    def settle(self, wrong: Callable[[], list[str]]) -> None:
        """Waits until nothing is wrong. What maintenance does is reported by the next batch."""
        for _ in range(6):
            last = {query: self.last_batch(query) for query in QUERIES}
            self.input.add_nothing()
            self.wait(lambda last=last: all(self.last_batch(it) > last[it] for it in last), "batch")
            deadline = time.monotonic() + 5
            while (found := wrong()) and time.monotonic() < deadline:
                time.sleep(POLL_S)
            if not found:
                return
        raise AssertionError("\n".join(found))


@pytest.fixture
def world(tmp_path: Path, spark: Spark) -> Iterator[World]:
    with closing(World(tmp_path, spark)) as world:
        yield world


@pytest.mark.long
@pytest.mark.timeout(900)
def test_each_metric_is_true_panels_have_data_and_faults_fire_alerts(world: World) -> None:
    # The first query has one more batch, without input, that removes what the watermark has passed.
    expected = {WINDOWS: FILES, TOTALS: FILES - 1, PLACED: FILES - 1}
    world.wait(lambda: all(world.last_batch(it) >= expected[it] for it in QUERIES), "batches")
    world.settle(lambda: wrong_values(world))
    assert wrong_memory(world) == []
    assert world.prometheus.alerts() <= {"KeyfoldStateSpilled"}

    fail_files(world)
    world.settle(lambda: wrong_retries(world))
    world.wait(lambda: "KeyfoldFileRetries" not in world.prometheus.alerts(), "the end of it")

    lose_executors_and_a_snapshot(world)
    world.wait(lambda: "KeyfoldSnapshotFallback" in world.prometheus.alerts(), "the alert")

    rescale(world)
    world.wait(lambda: wrong_labels(world) == [], "all metrics")
    names = [f"max_over_time({it}[10m])" for it in contract()]
    never = [it for it in names if not any(value > 0 for _, value in world.prometheus.all(it))]
    assert never == []
    assert list(asked_in_vain(world)) == []

    (world.folder / "stop").touch()
    assert world.program.wait() == 0
    world.wait(lambda: "KeyfoldDriverDown" in world.prometheus.alerts(), "the alert")


def wrong_values(world: World) -> list[str]:
    """What the input, the checkpoints and Spark's rules say, and metrics do not."""
    batches = {query: world.last_batch(query) + 1 for query in QUERIES}
    found: list[tuple[str, float, float]] = [("queries", len(QUERIES), world.value("queries"))]
    for query in QUERIES:
        found += [
            (f"{query} {name}", value, world.value(name, query))
            for name, value in (
                ("batch_id", batches[query] - 1),
                ("input_rows_total", INPUT_ROWS[query]),
            )
        ]
    for query, operator in STATE:
        updated, rows = UPDATED[query, operator], STATE[query, operator]
        assert world.rows(query, operator) == rows
        is_dedup, is_placed = (query, operator) == (WINDOWS, 1), query == PLACED
        values: dict[str, float] = {
            "state_rows": rows,
            "updated_rows_total": updated,
            "removed_rows_total": updated - rows if query == WINDOWS else 0,
            "late_rows_total": LATE if is_dedup else 0,
            "partitions": PARTITIONS,
            "unplaced_rows": NUMBERS if is_placed else 0,
            "loads_total": 0,
            "load_seconds_total": 0,
            "rescaled_loads_total": 0,
            "file_retries_total": 0,
            "snapshot_fallbacks_total": 0,
            # The first version of a store is empty.
            "memory_hits_total": (batches[query] * USES[query, operator] - 1) * PARTITIONS,
            **of_partitions(world, query, operator),
        }
        kinds = {kind: world.files(query, operator, kind) for kind in SUMS}
        if not is_placed:
            for kind, files in kinds.items():
                values[f"{kind}_total"] = len(files)
                values[f"{BYTES[kind]}_total"] = sum(it.stat().st_size for it in files)
        written = sum(world.value(f"{kind}_total", query, operator) for kind in SUMS)
        values["files_deleted_total"] = written - sum(map(len, kinds.values()))
        assert query != TOTALS or values["state_bytes"] == TOTALS_BYTES
        its = ((name, world.value(name, query, operator)) for name in values)
        found += [(f"{query} {operator} {name}", values[name], value) for name, value in its]
    found += of_executors(world, batches)
    return [
        f"{what}: {wanted} expected, {value}" for what, wanted, value in found if wanted != value
    ]


def of_partitions(world: World, query: str, operator: int) -> dict[str, float]:
    """Of partitions, as the checkpoint has them."""
    table = keyfold.open_checkpoint(world.checkpoint(query)).inspect.partitions().to_pylist()
    parts = [it for it in table if it["operator"] == operator]
    its = {it["partition"]: it["rows"] for it in parts}
    label = f'{{query="{LABELS[query]}", operator="{operator}"}}'
    shown = world.prometheus.all(f"keyfold_partition_rows{label}")
    assert {int(labels["partition"]): rows for labels, rows in shown} == its
    rows = its.values()
    return {
        "partition_rows_max": max(rows),
        "partition_rows_mean": sum(rows) / len(rows),
        "state_bytes": sum(it["live_bytes"] for it in parts),
    }


def of_executors(world: World, batches: dict[str, int]) -> list[tuple[str, float, float]]:
    """Sums of both executors."""
    stores = [it for it in STATE for _ in range(PARTITIONS)]

    def of_operators(*names: str) -> float:
        return sum(world.value(name, *it) for name in names for it in STATE)

    values = {
        "stores": len(stores),
        "commits_total": sum(batches[query] for query, _ in stores),
        "state_rows": sum(STATE.values()),
        "state_bytes": of_operators("state_bytes"),
        "files_written_total": of_operators(*(f"{it}_total" for it in SUMS)),
        "written_bytes_total": of_operators(*(f"{it}_total" for it in BYTES.values())),
        "memory_budget_bytes": 2 * BUDGET,
        **{f"{it}_total": of_operators(f"{it}_total") for it in (
            "memory_hits", "files_deleted", "loads", "file_operations", "file_retries",
            "snapshot_fallbacks",
        )},
    }  # fmt: skip
    return [(f"executors' {it}", values[it], world.value(f"executor_{it}")) for it in values]


def wrong_memory(world: World) -> list[str]:
    """Bounds of what has no exact value: times, and memory."""
    spilled, mapped = spill_files(world.executors())
    operations = world.value("executor_file_operations_total")
    files = sum(world.value(f"executor_files_{it}_total") for it in ("written", "deleted"))
    of_spark = sum(world.value("commit_seconds_total", *it) for it in STATE)
    commits = world.value("executor_commits_total")
    bounds = {
        "used": (1, world.value("executor_memory_used_bytes"), 2 * BUDGET),
        "free": (1, world.value("executor_memory_free_bytes"), 2 * BUDGET + mapped),
        "spilled": (max(1, spilled), world.value("executor_spilled_bytes"), spilled + mapped),
        "memory": (1, sum(world.value("memory_bytes", *it) for it in STATE), 2 * BUDGET),
        "operators' spilled": (
            1, sum(world.value("spilled_bytes", *it) for it in STATE), spilled + mapped,
        ),
        "operations": (files, operations, 10 * files),
        # Spark's own clock is around Keyfold's, and rounds down to milliseconds.
        "commit": (0.001, world.value("executor_commit_seconds_total"), of_spark + commits / 1000),
        "updates": (0.001, sum(world.value("update_seconds_total", *it) for it in STATE), 600),
        "removes": (0.001, sum(world.value("remove_seconds_total", *it) for it in STATE), 600),
        "age": (1, world.value("snapshot_age_batches", PLACED, 0), FILES + 3),
    }  # fmt: skip
    for query in QUERIES:
        offsets = world.checkpoint(query) / "offsets" / str(world.last_batch(query))
        planned_s = json.loads(offsets.read_text().splitlines()[1])["batchTimestampMs"] / 1000
        committed = world.checkpoint(query) / "commits" / offsets.name
        began_s = world.value("batch_timestamp_seconds", query)
        ended_s = began_s + world.value("batch_seconds", query)
        bounds[f"{query} began"] = (planned_s - 5, began_s, planned_s + 1)
        bounds[f"{query} ended"] = (
            committed.stat().st_mtime - 1, ended_s, committed.stat().st_mtime + 5
        )  # fmt: skip
    return [f"{it}: {its}" for it, its in bounds.items() if not its[0] <= its[1] <= its[2]]


def spill_files(executors: list[int]) -> tuple[int, int]:
    """Bytes of files without a name, as Linux sees them: of open ones, and of mapped ones."""
    opened = mapped = 0
    for process in executors:
        files = {}
        for file in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):
                if ".spill" not in str(file.readlink()):
                    continue
                files[file.stat().st_ino] = file.stat().st_size
        opened += sum(files.values())
        for line in Path(f"/proc/{process}/maps").read_text().splitlines():
            if ".spill" in line:
                first, _, behind = line.split()[0].partition("-")
                mapped += int(behind, 16) - int(first, 16)
    return opened, mapped


def fail_files(world: World) -> None:
    """Takes the folder of a partition away for a second of each batch, until the alert fires."""
    store = world.checkpoint(TOTALS) / "state" / "0" / "0"
    away = world.folder / "away"

    def fires() -> bool:
        batch = world.last_batch(TOTALS) + 1
        store.rename(away)
        store.touch()
        world.input.add(TOTALS, [{"key": it} for it in range(NUMBERS)])
        offsets = world.checkpoint(TOTALS) / "offsets" / str(batch)
        world.wait(offsets.exists, "a batch")
        time.sleep(1)
        store.unlink()
        away.rename(store)
        world.wait(lambda: world.last_batch(TOTALS) == batch, "the batch")
        return "KeyfoldFileRetries" in world.prometheus.alerts()

    world.wait(fires, "the alert")


def wrong_retries(world: World) -> list[str]:
    """The executors have logged each."""
    logs = world.folder.glob("spark-*/work/*/*/stderr")
    said = sum(
        len(re.findall(r"WARN RetryingBlobStore: .* retrying in", it.read_text())) for it in logs
    )
    values = (
        world.value("file_retries_total", TOTALS, 0),
        world.value("executor_file_retries_total"),
    )
    # A commit that is repeated waits for a tenth of a second.
    slowest = world.prometheus.value("max(keyfold_executor_commit_seconds_max)") or 0
    is_right = said > 0 and values == (said, said) and slowest >= 0.1
    return [] if is_right else [f"{said} expected, {values}; the slowest commit: {slowest} s"]


def lose_executors_and_a_snapshot(world: World) -> None:
    """All stores are loaded again, one from other files."""
    stores = sorted((world.checkpoint(TOTALS) / "state" / "0").glob("[0-9]*"))
    newest = max(
        (it for it in stores[1].iterdir() if it.suffix in {".snapshot", ".merged"}),
        key=lambda it: int(it.name.partition("_")[0]),
    )
    content = bytearray(newest.read_bytes())
    content[len(content) // 2] ^= 0xFF
    newest.write_bytes(content)
    before = {labels["executor"] for labels, _ in executors(world)}
    for process in world.executors():
        os.kill(process, signal.SIGKILL)
    # One after the other: what executors say of loads is then of this query.
    world.input.add(TOTALS, [{"key": 1}])

    def loaded() -> bool:
        values = [
            world.value(name, TOTALS, 0) for name in ("loads_total", "snapshot_fallbacks_total")
        ]
        of_both = [world.value(f"executor_{it}_total") for it in ("loads", "snapshot_fallbacks")]
        return values == of_both == [PARTITIONS, 1]

    world.wait(loaded, "loads by new executors")
    assert before.isdisjoint({labels["executor"] for labels, _ in executors(world)})
    seconds = world.value("load_seconds_total", TOTALS, 0)
    [all_s, longest] = [
        world.value("executor_load_seconds_total"),
        world.prometheus.value("max(keyfold_executor_load_seconds_max)") or 0,
    ]
    assert 0 < longest <= all_s
    assert all_s == pytest.approx(seconds)


def executors(world: World) -> list[tuple[Labels, float]]:
    return world.prometheus.all("keyfold_executor_stores")


def rescale(world: World) -> None:
    """Starts a query with more partitions."""
    hidden = world.folder / "hidden"
    hidden.write_text(str(RESCALED))
    hidden.rename(world.folder / "rescale")
    world.input.add_nothing()

    def rescaled() -> bool:
        names = "partitions", "loads_total", "rescaled_loads_total"
        return {world.value(name, TOTALS, 0) for name in names} == {RESCALED}

    world.wait(rescaled, "loads by the new partitions")
    assert world.rows(TOTALS, 0) == world.value("state_rows", TOTALS, 0)


def wrong_labels(world: World) -> list[str]:
    """Metrics that are not there, are not in the contract, or have other labels than it says."""
    found: dict[str, set[frozenset[str]]] = {}
    for labels, _ in world.prometheus.all('{__name__=~"keyfold_.+|metrics_.+"}'):
        name = labels.pop("__name__")
        assert labels["application"] == APPLICATION
        assert labels.get("query", WINDOWS) in {*LABELS.values(), WINDOWS}
        found.setdefault(name, set()).add(frozenset(labels) - OWN_LABELS)
    wanted = {name: {frozenset(labels)} for name, labels in contract().items()}
    return [f"{it}: {found.get(it)}" for it in wanted | found if found.get(it) != wanted.get(it)]


def asked_in_vain(world: World) -> Iterator[str]:
    """Panels of the dashboard with a query that has shown nothing."""
    for panel in panels():
        for expression in expressions(panel, "15m"):
            if not world.prometheus.samples(faster(expression), TIMEOUT_S):
                yield f"{panel['title']}: {expression}"
