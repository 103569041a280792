"""Runs checks: by threads of this process, or as tasks of Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.fsck.finding import Finding, Kind, Severity
from keyfold.fsck.store import Checked, StoreCheck
from keyfold.state.walk import THREADS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Progress: TypeAlias = Callable[[int, int], None]

_FINDING = [(name, pa.string()) for name in ("kind", "severity", "path", "message")]
_CHECKED = pa.schema(
    [
        ("number", pa.int64()),
        ("findings", pa.list_(pa.struct(_FINDING))),
        ("files", pa.int64()),
        ("bytes", pa.int64()),
        ("bad", pa.list_(pa.int64())),
    ]
)


def run_here(checks: list[StoreCheck], progress: Progress | None) -> list[Checked]:
    """Results of checks. Several run at a time, as they mostly wait."""
    with ThreadPoolExecutor(THREADS) as pool:
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
    rows = frame.mapInArrow(_work(parts), from_arrow_schema(_CHECKED)).toArrow().to_pylist()
    if progress is not None:
        progress(len(checks), len(checks))
    return [_checked(row) for row in sorted(rows, key=lambda it: it["number"])]


def _partition(check: StoreCheck) -> tuple[int, int]:
    return check.place.operator, check.place.partition


def _work(
    parts: list[list[tuple[int, StoreCheck]]],
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def work(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for some in numbers:
            for part in some.column(0).to_pylist():
                found = [_row(number, check.run()) for number, check in parts[part]]
                yield pa.RecordBatch.from_pylist(found, _CHECKED)

    return work


def _row(number: int, checked: Checked) -> dict[str, object]:
    found = [it.to_dict() for it in checked.findings]
    return {"number": number, **asdict(checked), "findings": found}


def _checked(row: dict[str, object]) -> Checked:
    found: list[dict[str, str]] = row["findings"]  # type: ignore[assignment]
    findings = tuple(
        Finding(Kind(it["kind"]), it["path"], it["message"], Severity(it["severity"]))
        for it in found
    )
    return Checked(findings, row["files"], row["bytes"], tuple(row["bad"]))  # type: ignore[arg-type]
