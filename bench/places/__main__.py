"""Run the same query with each provider, its checkpoint in each place, and write the page."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import pyspark
from rich.console import Console

from bench.places.cells import CELLS, OURS, STATELESS, Cell
from bench.places.place import Place, place_of
from bench.places.query import Job
from bench.revision import revision
from kit.places import INTEGRATION_TESTS, ROOT

PAGE = ROOT / "docs" / "benchmarks-checkpoints.md"
console = Console(stderr=True)


@dataclass(frozen=True)
class Figures:
    """Of one provider in one cell: medians in ms, requests a batch.

    `load_ms` is the mean over partitions of what they took to load their state; None if not told.
    """

    batch_ms: float
    phases_ms: dict[str, float]
    requests: dict[str, float]
    load_ms: float | None


def measured(cell: Cell, provider: str, place: Place, scratch: Path) -> Figures:
    """Run the query until its state has all keys, then the batches that count."""
    begun = -(-cell.keys // cell.rows) + cell.warm_up
    job = Job(
        {**settings(cell, scratch), **place.settings, **cell.providers[provider]},
        place.url("".join(it for it in f"{cell.name}-{provider}" if it.isalnum())),
        cell.rows,
        cell.keys,
        provider != STATELESS,
        begun,
        begun + cell.measured,
    )
    if cell.restarts:
        # Its state has all keys then, and the first restart, which does not count, does one more.
        run(replace(job, first=begun - 2, last=begun - 1), place, scratch / "query.log")
        job = replace(job, restarts=True)
    said, requests = run(job, place, scratch / "query.log")
    batches, loads = said["batches"], said["loads"]
    found = Figures(
        median(it["triggerExecution"] for it in batches),
        {phase: median(it[phase] for it in batches) for phase in batches[0]},
        {kind: count / len(batches) for kind, count in requests.items()},
        median(loads) / cell.partitions if any(loads) and cell.restarts else None,
    )
    console.print(f"  {provider}: {found}", soft_wrap=True)
    return found


def settings(cell: Cell, scratch: Path) -> dict[str, str]:
    """What all providers share."""
    return {
        "spark.master": f"local[{cell.cores}]",
        "spark.sql.shuffle.partitions": str(cell.partitions),
        "spark.sql.streaming.numRecentProgressUpdates": "1000",
        "spark.driver.memory": "4g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(scratch / "spark"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.hadoop.fs.s3a.connection.maximum": "64",
    }


def run(job: Job, place: Place, log: Path) -> tuple[dict[str, Any], Counter[str]]:
    """What the query says, and the requests of its measured batches."""
    marks = []
    last = ""
    with (
        log.open("w") as errors,
        subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "bench.places.query", json.dumps(asdict(job))],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(INTEGRATION_TESTS)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        for line in process.stdout or ():
            last = line
            if line.startswith("batch ") and process.stdin:
                marks.append(place.requests())
                process.stdin.write("\n")
                process.stdin.flush()
    if process.returncode != 0:
        raise SystemExit(f"The query has failed:\n{log.read_text()[-4000:]}")
    begin, end = marks
    return json.loads(last), end - begin


def tables(words: str, providers: str) -> Iterator[str]:
    """A table for each cell whose name has one of the words."""
    for cell in CELLS:
        if not any(word in cell.name for word in words.split(",")):
            continue
        console.print(f"{cell.name}: {cell.text}")
        with tempfile.TemporaryDirectory(prefix="keyfold-bench-") as scratch:
            folder = Path(scratch)
            with place_of(cell, folder) as place:
                found = {
                    provider: measured(cell, provider, place, folder)
                    for provider in cell.providers
                    if any(word in provider for word in providers.split(","))
                }
        yield f"{cell.text}\n\n{revision()}\n\n{table(found)}"


def table(found: dict[str, Figures]) -> str:
    """The figures of a cell, beside those of Keyfold as it is set up."""
    ours = found.get(OURS)
    lines = [
        f"| provider | ms a batch | {OURS} is faster | requests a batch |",
        "| --- | ---: | ---: | --- |",
    ]
    for provider, it in found.items():
        ratio = f"{it.batch_ms / ours.batch_ms:.2f}x" if ours else ""
        requests = ", ".join(f"{kind} {count:g}" for kind, count in sorted(it.requests.items()))
        if it.load_ms is not None:
            requests += f"; a partition's load {it.load_ms:,.0f} ms"
        lines.append(f"| {provider} | {it.batch_ms:,.0f} | {ratio} | {requests} |")
    return "\n".join([*lines, ""])


def page(found: list[str]) -> str:
    """Write the text of the page: what is on it already, but for the cells that were found anew."""
    before = PAGE.read_text(encoding="utf-8").split("\n## ")[1:] if PAGE.exists() else []
    tables = {it.partition("\n")[0]: it.strip() for it in [*before, *found]}
    cells = [f"## {tables[it.text]}\n" for it in CELLS if it.text in tables]
    return "\n".join(
        [
            "# Benchmarks of checkpoints",
            "",
            "![Milliseconds a batch in each place](img/benchmarks-checkpoints.svg)",
            "",
            "Written by `make bench-checkpoints`, do not edit. Made by",
            "[bench/places](../bench/places).",
            "",
            "A streaming count in update mode, whose state has all keys, with its checkpoint in",
            "each place, beside a query without state that shuffles the same rows by key: medians",
            "of the last 8 to 40 batches, as Spark reports them in `triggerExecution`.",
            "The servers run on the same cores: versitygw for S3, behind a proxy that holds each",
            "request back and counts it; a name node and three data nodes for HDFS, whose calls",
            "the name node counts. Requests are by place in the checkpoint, or by the call.",
            f"RocksDB writes a changelog at each commit. Spark {pyspark.__version__}. After a",
            "restart: the query is started for each batch, which loads all state, and the requests",
            "are all since its start.",
            "",
            *cells,
        ]
    )


def main() -> None:
    """Measure cells for the page, all or by words of their names with commas; print providers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cell", default="")
    parser.add_argument("--provider", default="")
    asked = parser.parse_args()
    found = list(tables(asked.cell, asked.provider))
    if asked.provider:
        Console().print("\n".join(found), soft_wrap=True)
    else:
        PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
