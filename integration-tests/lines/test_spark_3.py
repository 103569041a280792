"""Queries that Spark 3.5 has begun, on both of its providers, go on with Keyfold, exactly."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kit.lines import EVERY_LINE
from kit.places import ROOT
from lines.spark_3_job import PROVIDERS, QUERIES

RELEASE = "3.5.7"
# It cannot work with newer ones.
ITS_PACKAGES = ("pandas<2.3", "numpy<2", "pyarrow<18")


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.skipif(not EVERY_LINE, reason="with KEYFOLD_EVERY_LINE: it installs Spark 3.5")
def test_queries_of_spark_3_go_on(tmp_path: Path) -> None:
    installed = subprocess.run(
        [ROOT / "build/pyspark", RELEASE], check=True, capture_output=True, text=True
    )
    old = f"{installed.stdout.strip()}/bin/python"
    pip = (old, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    subprocess.run([*pip, *ITS_PACKAGES], check=True)
    assert len(re.findall(": begun$", told(old, "before", tmp_path), re.MULTILINE)) == EACH
    lines = told(sys.executable, "after", tmp_path).splitlines()
    assert len(lines) == EACH
    for line in lines:
        found = re.search(r": (\d+) rows, (\d+) answers, equal$", line)
        assert found, line
        assert int(found[1]) > 0, line
        assert int(found[2]) > 0, line


EACH = len(PROVIDERS) * len(QUERIES)


def told(python: str, phase: str, folder: Path) -> str:
    job = Path(__file__).with_name("spark_3_job.py")
    environment = {it: os.environ[it] for it in os.environ if it != "SPARK_HOME"}
    done = subprocess.run(
        [python, job, phase, folder],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    return "\n".join(it for it in done.stdout.splitlines() if "Provider: " in it)
