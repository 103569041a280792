"""What metrics must say, by the input, the checkpoints, the operating system and Spark's rules."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path

import keyfold
from cluster.metered_application import BUDGET, LABELS, Metered
from cluster.metered_input import (
    FILES,
    INPUT_ROWS,
    LATE,
    NUMBERS,
    STATE,
    TOTALS_BYTES,
    UPDATED,
    USES,
)
from cluster.metrics_job import PLACED, QUERIES, TOTALS, WINDOWS
from kit.submit import PARTITIONS

KINDS = {"snapshots": "snapshot", "deltas": "delta", "merges": "merged"}
BYTES = {"snapshots": "snapshot_bytes", "deltas": "delta_bytes", "merges": "merged_bytes"}

# What it is, what it must be, and what it is by the metrics.
Compared = list[tuple[str, object, object]]


def wrong_values(metered: Metered) -> list[str]:
    """What the input, the checkpoints and Spark's rules say, and metrics do not."""
    batches = {query: metered.last_batch(query) + 1 for query in QUERIES}
    found: Compared = [("queries", len(QUERIES), metered.value("queries"))]
    for query in QUERIES:
        found += [
            (f"{query} {name}", value, metered.value(name, query))
            for name, value in (
                ("batch_id", batches[query] - 1),
                ("input_rows_total", INPUT_ROWS[query]),
            )
        ]
    for query, operator in STATE:
        updated, rows = UPDATED[query, operator], STATE[query, operator]
        found.append((f"{query} {operator} rows", rows, metered.rows(query, operator)))
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
        }
        kinds = {kind: metered.files(query, operator, ending) for kind, ending in KINDS.items()}
        if not is_placed:
            for kind, files in kinds.items():
                values[f"{kind}_total"] = len(files)
                values[f"{BYTES[kind]}_total"] = sum(it.stat().st_size for it in files)
        written = sum(metered.value(f"{kind}_total", query, operator) for kind in KINDS)
        values["files_deleted_total"] = written - sum(map(len, kinds.values()))
        if query == TOTALS:
            values["state_bytes"] = TOTALS_BYTES
        its = ((name, metered.value(name, query, operator)) for name in values)
        found += [(f"{query} {operator} {name}", values[name], value) for name, value in its]
        found += of_partitions(metered, query, operator)
    found += of_executors(metered, batches)
    return [
        f"{what}: {wanted} expected, {value}" for what, wanted, value in found if wanted != value
    ]


def of_partitions(metered: Metered, query: str, operator: int) -> Compared:
    """Rows of partitions, and bytes, as the checkpoint has them."""
    table = keyfold.open_checkpoint(metered.checkpoint(query)).inspect.partitions().to_pylist()
    parts = [it for it in table if it["operator"] == operator]
    its = {it["partition"]: it["rows"] for it in parts}
    label = f'{{query="{LABELS[query]}", operator="{operator}"}}'
    shown = metered.prometheus.all(f"keyfold_partition_rows{label}")
    rows = its.values()
    values = {
        "partition_rows_max": max(rows),
        "partition_rows_mean": sum(rows) / len(rows),
        "state_bytes": sum(it["live_bytes"] for it in parts),
    }
    what = f"{query} {operator}"
    return [
        (f"{what} partitions", its, {int(labels["partition"]): value for labels, value in shown}),
        *((f"{what} {it}", values[it], metered.value(it, query, operator)) for it in values),
    ]


def of_executors(metered: Metered, batches: dict[str, int]) -> Compared:
    """Sums of both executors."""
    stores = [it for it in STATE for _ in range(PARTITIONS)]

    def of_operators(*names: str) -> float:
        return sum(metered.value(name, *it) for name in names for it in STATE)

    values = {
        "stores": len(stores),
        "commits_total": sum(batches[query] for query, _ in stores),
        "state_rows": sum(STATE.values()),
        "state_bytes": of_operators("state_bytes"),
        "files_written_total": of_operators(*(f"{it}_total" for it in KINDS)),
        "written_bytes_total": of_operators(*(f"{it}_total" for it in BYTES.values())),
        "memory_budget_bytes": 2 * BUDGET,
        **{f"{it}_total": of_operators(f"{it}_total") for it in (
            "memory_hits", "files_deleted", "loads", "file_operations", "file_retries",
            "snapshot_fallbacks",
        )},
    }  # fmt: skip
    return [(f"executors' {it}", values[it], metered.value(f"executor_{it}")) for it in values]


def wrong_bounds(metered: Metered) -> list[str]:
    """Bounds of what has no exact value: times, and memory."""
    spilled, mapped = spill_files(metered.executors())
    operations = metered.value("executor_file_operations_total")
    files = sum(metered.value(f"executor_files_{it}_total") for it in ("written", "deleted"))
    of_spark = sum(metered.value("commit_seconds_total", *it) for it in STATE)
    commits = metered.value("executor_commits_total")
    bounds = {
        "used": (1, metered.value("executor_memory_used_bytes"), 2 * BUDGET),
        "free": (1, metered.value("executor_memory_free_bytes"), 2 * BUDGET + mapped),
        "spilled": (max(1, spilled), metered.value("executor_spilled_bytes"), spilled + mapped),
        "memory": (1, sum(metered.value("memory_bytes", *it) for it in STATE), 2 * BUDGET),
        "operators' spilled": (
            1, sum(metered.value("spilled_bytes", *it) for it in STATE), spilled + mapped,
        ),
        "operations": (files, operations, 10 * files),
        # Spark's own clock is around Keyfold's, and rounds down to milliseconds.
        "commits": (
            0.001, metered.value("executor_commit_seconds_total"), of_spark + commits / 1000,
        ),
        "updates": (0.001, sum(metered.value("update_seconds_total", *it) for it in STATE), 600),
        "removes": (0.001, sum(metered.value("remove_seconds_total", *it) for it in STATE), 600),
        "files": (1, metered.value("load_files_max", PLACED, 0), FILES + 3),
    }  # fmt: skip
    for query in QUERIES:
        offsets = metered.checkpoint(query) / "offsets" / str(metered.last_batch(query))
        planned_s = json.loads(offsets.read_text().splitlines()[1])["batchTimestampMs"] / 1000
        committed = metered.checkpoint(query) / "commits" / offsets.name
        began_s = metered.value("batch_timestamp_seconds", query)
        ended_s = began_s + metered.value("batch_seconds", query)
        bounds[f"{query} began"] = (planned_s - 5, began_s, planned_s + 1)
        bounds[f"{query} ended"] = (
            committed.stat().st_mtime - 1, ended_s, committed.stat().st_mtime + 5
        )  # fmt: skip
        seen_s = metered.value("seen_timestamp_seconds", query)
        bounds[f"{query} seen"] = (ended_s - 0.001, seen_s, time.time() + 1)
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
