"""Measure counts whose state does not fit into memory, and write the page."""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any, Final

import pyspark
from rich.console import Console

import keyfold
from bench.bigstate.cgroup import Cgroup
from bench.bigstate.query import Job
from bench.revision import revision
from bench.states import PROVIDERS
from keyfold.settings import (
    EXTENSIONS_CLASS,
    EXTENSIONS_KEY,
    MEMORY_KEY,
    PROVIDER_KEY,
    QUERY_SETTINGS,
)

LIMIT: Final = 2 << 30
BUDGET: Final = 256 << 20
ROWS: Final = 500_000
ROCKS: Final = "spark.sql.streaming.stateStore.rocksdb"
STORES: Final = {
    "RocksDB": {PROVIDER_KEY: PROVIDERS["RocksDB"]},
    "RocksDB, bounded": {
        PROVIDER_KEY: PROVIDERS["RocksDB"],
        f"{ROCKS}.boundedMemoryUsage": "true",
        f"{ROCKS}.maxMemoryUsageMB": str(BUDGET >> 20),
    },
    "Keyfold": {
        **QUERY_SETTINGS,
        EXTENSIONS_KEY: EXTENSIONS_CLASS,
        MEMORY_KEY: str(BUDGET),
    },
}
PAGE: Final = Path(__file__).parents[2] / "docs" / "benchmarks-bigstate.md"
HEAD: Final = (
    "keys",
    "which come",
    "provider",
    "ms a batch, median",
    "90 of 100",
    "longest",
    "MB read a batch",
    "MB written a batch",
    "most memory of all, MB",
    "Keyfold faster",
)
console = Console(stderr=True)


def settings(store: str, folder: Path) -> dict[str, str]:
    """Settings of a session: one JVM of 1 GB of heap, two cores."""
    jar = str(keyfold.jar_path())
    return {
        "spark.master": "local[2]",
        "spark.driver.memory": "1g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraClassPath": jar,
        "spark.local.dir": str(folder / "local"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        f"{ROCKS}.changelogCheckpointing.enabled": "true",
        **STORES[store],
    }


def measure(store: str, keys: int, measured: int, *, is_skewed: bool) -> dict[str, Any]:
    """Run the count with a provider, in a cgroup of its own."""
    group = Cgroup(LIMIT)
    with tempfile.TemporaryDirectory(prefix="keyfold-bench-") as scratch:
        folder = Path(scratch)
        job = Job(
            settings(store, folder), str(folder / "checkpoint"), ROWS, keys, measured, is_skewed
        )
        command = [sys.executable, "-m", "bench.bigstate.query", json.dumps(asdict(job))]
        batches = []
        with subprocess.Popen(  # noqa: S603
            command,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=group.enter,  # noqa: PLW1509
        ) as process:
            for line in process.stdout or ():
                batch = json.loads(line)
                console.print(store, batch, soft_wrap=True)
                if batch["is_measured"]:
                    batches.append(batch)
        if process.returncode != 0:
            raise SystemExit(f"{store} has failed")
        peak = group.peak
    group.remove()
    times = sorted(it["ms"] for it in batches)
    return {
        "median": median(times),
        "most": times[len(times) * 9 // 10],
        "longest": times[-1],
        "read": median(it["read"] for it in batches) / 1e6,
        "written": sum(it["written"] for it in batches) / len(batches) / 1e6,
        "peak": peak / 1e6,
    }


def lines(counts: list[int], measured: int) -> list[str]:
    """Run each case, in turn, so that nothing runs beside it; lines of the table."""
    rows = []
    for keys in counts:
        for is_skewed in (False, True):
            found = {it: measure(it, keys, measured, is_skewed=is_skewed) for it in STORES}
            ours = found["Keyfold"]["median"]
            for store, it in found.items():
                ratio = "" if store == "Keyfold" else f"{it['median'] / ours:.1f}x"
                numbers = [it["median"], it["most"], it["longest"], it["read"], it["written"]]
                rows.append(
                    f"| {keys:,} | {'skewed' if is_skewed else 'evenly'} | {store} | "
                    + " | ".join(f"{number:,.0f}" for number in [*numbers, it["peak"]])
                    + f" | {ratio} |"
                )
                console.print(rows[-1], soft_wrap=True)
    return rows


def page(rows: list[str]) -> str:
    """Write the text of the page."""
    return "\n".join(
        [
            "# Benchmarks with more state than memory",
            "",
            "Written by `make bench-bigstate`, do not edit. Made by",
            "[bench/bigstate](../bench/bigstate).",
            "",
            revision(),
            f"Spark {pyspark.__version__}.",
            "",
            f"A count and a sum by key, in a memory cgroup of {LIMIT >> 20} MiB, which the page",
            "cache counts against as in any container: a heap of 1 GiB, a budget for state of",
            f"{BUDGET >> 20} MiB, also for RocksDB where it is bounded; it writes a changelog.",
            "Each key has come once before the batches that are measured, of",
            f"{ROWS:,} rows each. Skewed: the key of rank r comes with a probability of 1/r, as in",
            "Zipf's law with the exponent 1.",
            "",
            f"| {' | '.join(HEAD)} |",
            "| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            *rows,
            "",
        ]
    )


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, nargs="+", default=[20_000_000, 50_000_000])
    parser.add_argument("--batches", type=int, default=20, help="that are measured")
    parser.add_argument("--print", action="store_true", help="the table only, not the page")
    chosen = parser.parse_args()
    rows = lines(chosen.keys, chosen.batches)
    if not chosen.print:
        PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
