"""Runs all queries of a family until each has read what is there.

Usage: operators_job.py FAMILY FOLDER

The input is in FOLDER. A case keeps in FOLDER/<case> its checkpoint, the rows of each batch and, in
a file for each run, how the run went: a query that fails does not end the others.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pyspark.cloudpickle import register_pickle_by_value
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from kit import queries
from kit.queries.streams import streams
from operators import processors
from operators.cases import Case
from operators.families import FAMILIES

# A query spends half of its time in the driver.
AT_A_TIME = 2
# On a slow machine a Python that is started in the driver does not answer within the 10 s that
# Spark gives it before the first batch.
NOT_ANSWERED, ATTEMPTS = "Python worker failed to connect back", 5

family, folder = sys.argv[1], Path(sys.argv[2])
spark = SparkSession.builder.getOrCreate()
# A Python that Spark starts for a processor is to answer soon, so it imports nothing of the tests.
for module in (queries, processors):
    register_pickle_by_value(module)


def run(case: Case) -> None:
    home = folder / case.name
    (home / "batches").mkdir(parents=True, exist_ok=True)
    error, progress = None, []
    for _ in range(ATTEMPTS):
        try:
            error, progress = None, stream(case, home)
        except PySparkException as failure:
            error = str(failure)
            if NOT_ANSWERED in error:
                continue
        break
    went = {
        "application": spark.sparkContext.applicationId,
        "error": error,
        "progress": progress,
    }
    number = len(list(home.glob("run-*.json")))
    (home / f"run-{number}.json").write_text(json.dumps(went))


def stream(case: Case, home: Path) -> list[Any]:
    """Runs the query and returns the progress of its batches."""

    def write(batch: DataFrame, number: int) -> None:
        rows = [list(row) for row in batch.collect()]
        (home / "batches" / f"{number}.json").write_text(json.dumps(rows))

    session = spark.newSession()
    for name, value in case.settings.items():
        session.conf.set(name, value)
    query = (
        case.question(streams(session, folder))
        .writeStream.outputMode(case.mode)
        .foreachBatch(write)
        .option("checkpointLocation", str(home / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return [json.loads(it.json) for it in query.recentProgress]


with ThreadPoolExecutor(AT_A_TIME) as pool:
    list(pool.map(run, FAMILIES[family]))
