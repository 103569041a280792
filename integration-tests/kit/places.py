"""Where things of the repository are."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What a Python that is started for a test must find, beside what is installed.
INTEGRATION_TESTS = ROOT / "integration-tests"
# Classes of Scala's tests: a checkpoint file manager that fails, processors, queries.
TEST_CLASSES = os.pathsep.join(
    str(ROOT / "jvm" / it / "target/scala-2.13/test-classes") for it in ("core", "spark")
)
# Hadoop's local file system without a process for each file.
TESTKIT = str(ROOT / "jvm/testkit/target/scala-2.13/classes")
# Classes of Spark, ready for its JVMs to map; JVMs do without while it is not there.
CLASS_DATA = ROOT / ".cache" / "classes.jsa"
