"""Names on Spark's page for Prometheus become metrics with labels, whatever queries are called."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from kit.metrics_contract import contract
from kit.servers.prometheus import Prometheus

# Spark replaces all but letters and digits.
QUERIES = (
    "orders",
    "daily_operator_1",
    "operator_0_partition_1_rows",
    "a_operator_0_state_rows",
    "query",
    "query_a_batch_id",
    "batch_seconds",
    "executor_1",
    "5b1c3a52_0a3e_4d0c_9c11_0123456789ab",
)
APPLICATIONS = ("app_20261129180647_0000", "nightly", "a_driver_b")
# Labels that Prometheus adds.
OWN = {"job", "instance"}
TIMEOUT_S = 30
Series = tuple[tuple[str, str], ...]


def series(name: str, **labels: str) -> Series:
    return tuple(sorted({"__name__": name, **labels}.items()))


def gauges(application: str) -> dict[str, Series]:
    """Names on the page, and what becomes of each."""
    found: dict[str, Series] = {"queries": series("keyfold_queries", application=application)}
    for metric, labels in contract().items():
        kind, _, name = metric.removeprefix("keyfold_").partition("_")
        if "executor" in labels:
            for executor in ("0", "17", "driver"):
                its = series(metric, application=application, executor=executor)
                found[f"executor_{executor}_{name}"] = its
        for query in QUERIES if "query" in labels else ():
            if "operator" not in labels:
                its = series(metric, application=application, query=query)
                found[f"query_{query}_{name}"] = its
            for operator in ("0", "12") if "operator" in labels else ():
                partitions = ("0", "199") if kind == "partition" else ("",)
                for partition in partitions:
                    of = {"partition": partition} if partition else {}
                    rest = f"partition_{partition}_rows" if partition else name
                    found[f"query_{query}_operator_{operator}_{rest}"] = series(
                        metric, application=application, query=query, operator=operator, **of
                    )
    return found


def pages() -> tuple[str, set[Series]]:
    lines, wanted = ['metrics_nightly_driver_jvm_heap_used_Value{type="gauges"} 1'], set[Series]()
    for application in APPLICATIONS:
        for gauge, its in gauges(application).items():
            name = f"metrics_{application}_driver_plugin_io_keyfold_spark_KeyfoldPlugin_{gauge}"
            lines += [f'{name}_{it}{{type="gauges"}} 1.0' for it in ("Number", "Value")]
            assert its not in wanted
            wanted.add(its)
    return "\n".join(lines) + "\n", wanted


@contextmanager
def served(page: str) -> Iterator[int]:
    """The port where a page is Spark's."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_right = self.path == "/metrics/prometheus/"
            self.send_response(200 if is_right else 404)
            self.send_header("Content-Type", "text/plain;charset=utf-8")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.timeout(120)
def test_each_name_becomes_its_metric_and_labels(tmp_path: Path) -> None:
    page, wanted = pages()
    with (
        served(page) as port,
        closing(Prometheus(tmp_path / "prometheus", port)) as prometheus,
    ):
        deadline = time.monotonic() + TIMEOUT_S
        while not prometheus.all('{__name__=~"keyfold_.+"}') and time.monotonic() < deadline:
            time.sleep(0.2)
        shown = prometheus.all('{__name__=~"keyfold_.+|metrics_.+|.*jvm.*"}')
    found = {tuple(sorted(it for it in labels.items() if it[0] not in OWN)) for labels, _ in shown}
    assert found - wanted == set()
    assert wanted - found == set()
