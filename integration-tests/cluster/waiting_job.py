"""Another job, once a file is there; until then it waits with its executors.

Usage: waiting_job.py FILE JOB [ARGUMENT]...
"""

import runpy
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

file, *sys.argv = sys.argv[1:]
SparkSession.builder.getOrCreate()
while not Path(file).exists():
    time.sleep(0.1)
runpy.run_path(sys.argv[0], run_name="__main__")
