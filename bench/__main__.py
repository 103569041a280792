"""Ask Spark's `statestore` source and Keyfold's reader the same questions, and write the page."""

import argparse
import platform
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median

import pyspark
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as sf
from rich.console import Console

import keyfold
from bench.revision import revision
from bench.states import LARGE, PROVIDERS, WIDE, Kept, run, session
from keyfold.settings import PROVIDER_CLASS

ROUNDS = 3
DESCRIBE_MS = 2000
PANDAS_ROWS = 1_000_000
KEY = LARGE.rows // 3
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks-python.md"
console = Console(stderr=True)


@dataclass(frozen=True)
class Question:
    """What is asked, of Spark and of Keyfold; how many times faster Keyfold is to be.

    Both give a number, the same one.
    """

    text: str
    of_spark: Callable[[Kept], int]
    of_keyfold: Callable[[Path], int]
    target: int


def state(kept: Kept) -> DataFrame:
    """Read a checkpoint as Spark does."""
    return kept.spark.read.format("statestore").load(str(kept.checkpoint))


def written(kept: Kept) -> int:
    """Write every column of every row to nowhere, and count the rows."""
    seen = Observation()
    rows = state(kept).observe(seen, sf.count(sf.lit(1)).alias("rows"))
    rows.write.format("noop").mode("overwrite").save()
    return int(seen.get["rows"])


def one_count(kept: Kept) -> int:
    """Look one key up."""
    found = state(kept).where(sf.col("key.id") == KEY).collect()
    return int(found[0]["value"]["count"])


def scanned(checkpoint: Path) -> int:
    """Read every column of every row, and count the rows."""
    operator = keyfold.open_checkpoint(checkpoint)[0]
    return sum(batch.num_rows for batch in operator.scan().batches())


def got(checkpoint: Path) -> int:
    """Look one key up."""
    row = keyfold.open_checkpoint(checkpoint)[0].get({"id": KEY}).to_pylist()[0]
    return int(row["value"]["count"])


QUESTIONS = (
    Question(
        f"all columns of {LARGE.rows:,} rows",
        written,
        scanned,
        3,
    ),
    Question(
        f"{PANDAS_ROWS:,} rows to pandas",
        lambda kept: len(state(kept).limit(PANDAS_ROWS).toPandas()),
        lambda path: len(keyfold.open_checkpoint(path)[0].scan(limit=PANDAS_ROWS).to_pandas()),
        10,
    ),
    Question(f"one key of {LARGE.rows:,}", one_count, got, 50),
)


def milliseconds(work: Callable[[], int]) -> tuple[float, int]:
    """Time it: the median of some rounds, after one that does not count; and what it gave."""
    found = work()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        if work() != found:
            raise SystemExit("two rounds gave two answers")
        times.append(1000 * (time.perf_counter() - start))
    return median(times), found


def answers(all_kept: dict[str, Kept]) -> list[str]:
    """Ask everything of everyone; lines of the table."""
    rows = []
    for question in QUESTIONS:
        ours, expected = milliseconds(partial(question.of_keyfold, all_kept["Keyfold"].checkpoint))
        cells = []
        for provider, kept in all_kept.items():
            time_ms, found = milliseconds(partial(question.of_spark, kept))
            if found != expected:
                raise SystemExit(f"{provider}: {question.text}: {found}, not {expected}")
            mark = "✓" if time_ms / ours >= question.target else "✗"
            cells.append(f"{time_ms:,.0f} | {time_ms / ours:,.1f}x {mark}")
        rows.append(f"| {question.text} | {ours:,.1f} | {' | '.join(cells)} | {question.target}x |")
        console.print(rows[-1], soft_wrap=True)
    return rows


def described(checkpoint: Path) -> str:
    """Time `describe` of many files."""

    def once() -> int:
        found = keyfold.open_checkpoint(checkpoint).describe()
        return sum(operator.partitions for operator in found.operators)

    time_ms, partitions = milliseconds(once)
    if partitions != WIDE.partitions:
        raise SystemExit(f"describe found {partitions} partitions, not {WIDE.partitions}")
    mark = "✓" if time_ms < DESCRIBE_MS else "✗"
    return (
        f"`describe` of {WIDE.partitions} partitions after {WIDE.batches} batches: "
        f"{time_ms:,.0f} ms, of {DESCRIBE_MS:,} {mark}."
    )


def page(rows: list[str], description: str) -> str:
    """Write the text of the page."""
    heads = [f"{provider} by Spark, ms | Keyfold's reader faster" for provider in PROVIDERS]
    return "\n".join(
        [
            "# Benchmarks of the Python layer",
            "",
            "![Milliseconds of each answer](img/benchmarks-python.svg)",
            "",
            "Written by `make bench`, do not edit. Made by [bench](../bench).",
            "",
            revision(),
            f"Spark {pyspark.__version__}, Python {platform.python_version()},",
            f"pyarrow {version('pyarrow')}.",
            "",
            f"Each provider in turn keeps the state of a count of {LARGE.rows:,} keys. Spark's",
            "`statestore` source answers the questions in a warm session of two cores (Arrow on",
            "for pandas). Keyfold's reader answers them from Keyfold's checkpoint, without a JVM.",
            f"Medians of {ROUNDS} rounds after one that does not count; all give the same answers.",
            "",
            f"| question | Keyfold's reader, ms | {' | '.join(heads)} | to reach |",
            f"| --- | ---: |{' ---: | ---: |' * len(PROVIDERS)} ---: |",
            *rows,
            "",
            description,
            "",
        ]
    )


def main() -> None:
    """Make the checkpoints, ask, and write the page."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    with tempfile.TemporaryDirectory(prefix="keyfold-bench-") as scratch:
        folder = Path(scratch)
        spark = session(folder)
        all_kept = {}
        for name, provider in PROVIDERS.items():
            console.print(f"Counting {LARGE.rows:,} keys with {name} ...")
            all_kept[name] = run(spark, folder, LARGE, provider)
        rows = answers(all_kept)
        console.print(f"Running {WIDE.batches} batches of {WIDE.partitions} partitions ...")
        description = described(run(spark, folder, WIDE, PROVIDER_CLASS).checkpoint)
        console.print(description)
        spark.stop()
    PAGE.write_text(page(rows, description), encoding="utf-8")


if __name__ == "__main__":
    main()
