"""An application whose metrics a real Prometheus scrapes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import keyfold
from cluster.metered_input import Input
from cluster.metrics_job import PLACED, QUERIES, TOTALS, WINDOWS
from keyfold.settings import PLUGIN_CLASS, PLUGINS_KEY, PROMETHEUS_SETTINGS
from kit.kill_moment import last_batch
from kit.program import Program
from kit.servers.prometheus import Prometheus
from kit.servers.s3 import free_port
from kit.submit import Conf, Spark

TIMEOUT_S = 120
POLL_S = 0.2
BUDGET = 1 << 20
APPLICATION = "nightly_orders"
LABELS = {WINDOWS: "orders_operator_1_per_minute", TOTALS: TOTALS, PLACED: PLACED}
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


class Metered:
    """An application that runs, and the Prometheus that scrapes it."""

    def __init__(self, folder: Path, spark: Spark) -> None:
        self.folder = folder
        self.input = Input(folder)
        port = free_port()
        conf: Conf = {**CONF, "spark.ui.port": port}
        self.prometheus = Prometheus(folder / "prometheus", port)
        self.program: Program = spark.start("cluster/metrics_job.py", folder, conf=conf)

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
        """State files; `kind` is how their names end."""
        folder = self.checkpoint(query) / "state" / str(operator)
        return [it for it in folder.glob(f"[0-9]*/[0-9]*.{kind}") if it.is_file()]

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
                fire = sorted(self.prometheus.alerts())
                said = f"Not in {TIMEOUT_S} s: {what}. Alerts that fire: {fire}."
                raise AssertionError(f"{said} {self.program.end_of_log}")
            time.sleep(POLL_S)

    def wait_for(self, batches: dict[str, int]) -> None:
        """Waits for these batches of queries."""
        for query, batch in batches.items():
            self.wait(lambda: self.last_batch(query) >= batch, f"batch {batch} of {query}")  # noqa: B023 - called at once

    def settle(self, wrong: Callable[[], list[str]]) -> None:
        """Waits until nothing is wrong. What maintenance does is reported by the next batch."""
        for _ in range(6):
            next_batches = {query: self.last_batch(query) + 1 for query in QUERIES}
            self.input.add_nothing()
            self.wait_for(next_batches)
            deadline = time.monotonic() + 5
            while (found := wrong()) and time.monotonic() < deadline:
                time.sleep(POLL_S)
            if not found:
                return
        raise AssertionError("\n".join(found))
