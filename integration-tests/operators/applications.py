"""Applications that run all queries of a family until each has read what is there."""

from contextlib import closing
from pathlib import Path

from kit.installation import Installation
from kit.lines import BEGUN_ON_KEY
from kit.submit import Spark

JOB = "operators/operators_job.py"
# Quiet, it takes a minute.
TIMEOUT_S = 600
# New partitions take rows of both old ones, and some files' rows go to different ones.
BEFORE, AFTER = 2, 3
CONF = {"spark.sql.shuffle.partitions": BEFORE, "spark.sql.session.timeZone": "UTC"}


def start(family: str, folder: Path, on: Installation, begun_on: str) -> None:
    """Runs an application to its end; its cases are those of the line that began with them."""
    with closing(Spark(folder, on=on, variables={BEGUN_ON_KEY: begun_on})) as spark:
        spark.run(JOB, Path(family), folder, conf=CONF, timeout_s=TIMEOUT_S)
