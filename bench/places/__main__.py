"""Run the same query with each provider, its checkpoint in each place, and write the page."""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from rich.console import Console

from bench.places.cells import CELLS, STATELESS, Cell
from bench.places.query import Job
from kit.places import INTEGRATION_TESTS, ROOT
from kit.servers import s3
from kit.servers.hdfs import Hdfs
from kit.servers.proxy import Proxy
from kit.servers.s3 import S3Server

MEASURED = 10
WARM_UP = 4
console = Console(stderr=True)


@dataclass(frozen=True)
class Place:
    """Where a checkpoint goes, and who counts the requests to it."""

    url: Callable[[str], str]
    settings: dict[str, str]
    counts: Callable[[], Counter[str]]


@contextmanager
def place_of(cell: Cell, folder: Path) -> Iterator[Place]:
    """The place of a cell, with its server."""
    if cell.place == "S3":
        with (
            closing(S3Server(folder / "s3")) as server,
            closing(Proxy(server.port)) as proxy,
        ):
            proxy.delay_ms = cell.delay_ms

            def requests() -> Counter[str]:
                counts: Counter[str] = Counter()
                for (operation, place), count in proxy.counted.items():
                    logs = place in ("offsets", "commits")
                    counts[f"{'logs' if logs else place} {operation}"] += count
                return counts

            yield Place(s3.spark_url, s3.spark_conf(proxy.port), requests)
    elif cell.place == "HDFS":
        with closing(Hdfs(folder / "hdfs")) as hdfs:
            yield Place(lambda name: f"{hdfs.url}/{name}", {}, hdfs.calls)
    else:
        yield Place(lambda name: str(folder / "local" / name), {}, Counter)


def settings_of(cell: Cell, scratch: Path) -> dict[str, str]:
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


def measured(cell: Cell, provider: str, place: Place, scratch: Path) -> tuple[float, Counter[str]]:
    """Milliseconds and requests of a batch."""
    filling = -(-cell.keys // cell.rows)
    first = filling + WARM_UP
    job = Job(
        {**settings_of(cell, scratch), **place.settings, **_joined(place, cell, provider)},
        place.url(f"{cell.name}-{provider}".replace(" ", "-").replace(",", "")),
        cell.rows,
        0 if provider == STATELESS else cell.keys,
        first,
        first + MEASURED,
    )
    command = [sys.executable, "-m", "bench.places.query", json.dumps(asdict(job))]
    log = scratch / "query.log"
    with log.open("w") as errors:
        process = subprocess.Popen(  # noqa: S603
            command,
            cwd=ROOT,
            env={"PYTHONPATH": str(INTEGRATION_TESTS), "PATH": "/usr/bin:/bin"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        assert process.stdin
        assert process.stdout
        marks = []
        last = ""
        for line in process.stdout:
            last = line
            if line.startswith("batch "):
                marks.append(place.counts())
                process.stdin.write("\n")
                process.stdin.flush()
    if process.wait() != 0:
        raise SystemExit(log.read_text()[-4000:])
    found = json.loads(last)
    counts = marks[1] - marks[0]
    return median(found["batches"]), Counter({k: v / MEASURED for k, v in counts.items()})


def _joined(place: Place, cell: Cell, provider: str) -> dict[str, str]:
    return cell.providers[provider]


def main() -> None:
    """Measure all, or the cells and providers whose names hold the words."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cell", default="")
    parser.add_argument("--provider", default="")
    parser.add_argument("--delay-ms", type=float)
    asked = parser.parse_args()
    for cell in CELLS:
        if asked.cell not in cell.name:
            continue
        console.print(cell.text)
        with tempfile.TemporaryDirectory(prefix="keyfold-bench-") as scratch:
            folder = Path(scratch)
            (folder / "s3").mkdir()
            with place_of(cell, folder) as place:
                for provider in cell.providers:
                    if asked.provider not in provider:
                        continue
                    ms, counts = measured(cell, provider, place, folder)
                    text = ", ".join(f"{k} {v:g}" for k, v in sorted(counts.items()))
                    console.print(f"  {provider}: {ms:,.0f} ms; {text}", soft_wrap=True)


if __name__ == "__main__":
    main()
