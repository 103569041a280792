"""A start of a query in a process of its own, which is killed wherever it is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from random import Random

from kit.places import ROOT
from kit.session import session
from python.tests.spark.conftest import BUSY
from python.tests.spark.operator_model import Applies, ModelledQuery

ENCODING = "spark.sql.streaming.stateStore.encodingFormat"
ZONE = "spark.sql.session.timeZone"
PARTITIONS = "spark.sql.streaming.stateStore.keyfold.partitions"
RETAINED = "spark.sql.streaming.minBatchesToRetain"
EXTRA_SPACE = "spark.sql.streaming.ratioExtraSpaceAllowedInCheckpoint"
SETTINGS = (ENCODING, ZONE, PARTITIONS, RETAINED, EXTRA_SPACE)
_MOST_FILES = 30
_POLL_S = 0.002


def run(query: ModelledQuery, function: Applies, parallelism: int, random: Random) -> None:
    """Kills it with -9 when it has made a random number of files, or lets it end."""
    found = {it: query.spark.conf.get(it, None) for it in SETTINGS}
    conf = {it: value for it, value in found.items() if value is not None}
    job = json.dumps([str(query.root), query.specs, function.zone, parallelism, conf])
    files, delay = random.randrange(_MOST_FILES), random.choice([0, random.random() / 10])
    before = _files(query.checkpoint)
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, job],
        cwd=ROOT,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "integration-tests")))},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while process.poll() is None and len(_files(query.checkpoint) - before) <= files:
        time.sleep(_POLL_S)
    time.sleep(delay)
    # It may have come to its end meanwhile.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _files(checkpoint: Path) -> set[str]:
    return {name for _, _, names in os.walk(checkpoint) for name in names}


def _main(job: str) -> None:
    root, specs, zone, parallelism, conf = json.loads(job)
    with session(Path(root), BUSY | conf) as spark:
        query = ModelledQuery(spark, Path(root), specs)
        query.run(query.df(parallelism, Applies(specs, zone)))


if __name__ == "__main__":
    _main(sys.argv[1])
