"""A case's figures, each run in a process of its own."""

import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bench.nexmark.cases import Case
from bench.nexmark.job import Job
from bench.nexmark.stores import ROOT, STORES, shared

CORES = 2


def measured(case: Case) -> dict[str, Any]:
    """Run a case to its end; an `error` if its query fails."""
    with tempfile.TemporaryDirectory(prefix="keyfold-nexmark-") as scratch:
        folder = Path(scratch)
        settings = {**shared(folder, case.size.partitions, CORES), **STORES[case.store]}
        checkpoint = folder / "checkpoint"
        size = case.size
        job = Job(
            settings,
            str(checkpoint),
            case.query,
            case.store,
            size.rows,
            size.partitions,
            size.warm_up,
            size.last,
            case.to,
        )
        found = run(job, folder / "query.log")
        found["bytes"] = sum(it.stat().st_size for it in checkpoint.rglob("*") if it.is_file())
        if case.restarts and "error" not in found:
            found |= run(replace(job, is_restart=True), folder / "restart.log")
    return found


def run(job: Job, log: Path) -> dict[str, Any]:
    """What a process says in its last line."""
    with log.open("w") as errors:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "bench.nexmark.job", json.dumps(asdict(job))],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            check=False,
        )
    if done.returncode:
        return {"error": log.read_text(errors="replace")[-2000:]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
