"""Runs checks: by threads of this process, or as tasks of Spark."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.fsck.store import Checked, StoreCheck

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# They mostly wait: object stores take tens of ms per request.
_THREADS = 24
Progress: TypeAlias = Callable[[int, int], None]

_RESULTS = pa.schema([("number", pa.int64()), ("checked", pa.binary())])


def run_here(checks: list[StoreCheck], progress: Progress | None) -> list[Checked]:
    """Results of checks. Several run at a time, as they mostly wait."""
    with ThreadPoolExecutor(_THREADS) as pool:
        tasks = [pool.submit(check.run) for check in checks]
        for done, task in enumerate(as_completed(tasks), 1):
            task.result()
            if progress is not None:
                progress(done, len(tasks))
    return [task.result() for task in tasks]


def run_on_spark(
    checks: list[StoreCheck], progress: Progress | None, spark: SparkSession
) -> list[Checked]:
    """Results of checks, with a task for each partition of an operator.

    It uses a DataFrame only, so that it works with Spark Connect. Progress is reported once, at the
    end; until then Spark shows it.
    """
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415 - need not be there

    numbered = sorted(enumerate(checks), key=lambda it: _partition(it[1]))
    parts = [list(same) for _, same in groupby(numbered, key=lambda it: _partition(it[1]))]
    if not parts:
        return []
    frame = spark.range(0, len(parts), 1, len(parts))
    rows = frame.mapInArrow(_work(parts), from_arrow_schema(_RESULTS)).toArrow()
    if progress is not None:
        progress(len(checks), len(checks))
    # Pickled by tasks of this very call.
    return [pickle.loads(it) for it in rows.sort_by("number")["checked"].to_pylist()]  # noqa: S301


def _partition(check: StoreCheck) -> tuple[int, int]:
    return check.location.operator, check.location.partition


def _work(
    parts: list[list[tuple[int, StoreCheck]]],
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def work(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for some in numbers:
            for part in some.column(0).to_pylist():
                for number, check in parts[part]:
                    row = {"number": number, "checked": pickle.dumps(check.run())}
                    yield pa.RecordBatch.from_pylist([row], _RESULTS)

    return work
