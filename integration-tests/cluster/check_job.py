"""Checks the set-up of its session: check_job.py RESULT [--without-folders].

RESULT becomes a list of reports, in JSON. With the option there is a second one, made after the
folders are gone in which the first executor would keep the state that is beyond its budget.
"""

import json
import shutil
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import keyfold

spark = SparkSession.builder.getOrCreate()
reports = [keyfold.check(spark)]
if "--without-folders" in sys.argv:
    for folder in reports[0].executors[0].folders:
        shutil.rmtree(folder.path)
    reports.append(keyfold.check(spark))
Path(sys.argv[1]).write_text(json.dumps([it.to_dict() for it in reports]))
spark.stop()
