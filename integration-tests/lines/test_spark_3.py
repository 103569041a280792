"""Queries that Spark 3.5 has begun, on both of its providers, go on with Keyfold, exactly."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

import keyfold
from kit.lines import EVERY_LINE
from kit.places import ROOT
from lines.spark_3_job import PROVIDERS, QUERIES

RELEASE = "3.5.7"
# It cannot work with newer ones.
ITS_PACKAGES = ("pandas<2.3", "numpy<2", "pyarrow<18")


ON_EACH_LINE = pytest.mark.skipif(
    not EVERY_LINE, reason="with KEYFOLD_EVERY_LINE: it installs Spark 3.5"
)


@pytest.fixture(scope="module")
def old() -> str:
    """The folder of an environment with Spark 3.5."""
    command = [ROOT / "build/pyspark", RELEASE]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.long
@pytest.mark.timeout(1800)
@ON_EACH_LINE
def test_queries_of_spark_3_go_on(old: str, tmp_path: Path) -> None:
    python = f"{old}/bin/python"
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    subprocess.run([*pip, *ITS_PACKAGES], check=True)
    job = Path(__file__).with_name("spark_3_job.py")
    before = told([python, job, "before", tmp_path])
    assert len(re.findall(": begun$", before, re.MULTILINE)) == EACH
    assert_equal(told([sys.executable, job, "after", tmp_path]), EACH)


@pytest.mark.long
@pytest.mark.timeout(900)
@ON_EACH_LINE
def test_flat_map_groups_of_spark_3_goes_on(old: str, tmp_path: Path) -> None:
    [home] = Path(old).glob("lib/python3*/site-packages/pyspark")
    before = told(list(in_shell(home)), PHASE="before", FOLDER=str(tmp_path))
    assert len(re.findall(": begun$", before, re.MULTILINE)) == GROUPS
    ours = ("--properties-file", str(ROOT / "conf/keyfold-defaults.conf"))
    jar = ("--jars", str(keyfold.jar_path()))
    command = list(in_shell(Path(pyspark.__file__).parent, *ours, *jar))
    assert_equal(told(command, PHASE="after", FOLDER=str(tmp_path)), GROUPS)


EACH = len(PROVIDERS) * len(QUERIES)
# With a timeout and without one.
GROUPS = len(PROVIDERS) * 2


def in_shell(home: Path, *options: str) -> Iterator[str | Path]:
    """A command: Spark's shell, with the definitions of a file."""
    # The shell does not look for its own Spark.
    yield from ("env", f"SPARK_HOME={home}", home / "bin/spark-shell", "--master", "local[2]")
    yield from options
    for setting in ("sql.shuffle.partitions=2", "ui.enabled=false", "sql.session.timeZone=UTC"):
        yield from ("--conf", f"spark.{setting}")
    yield from ("-i", Path(__file__).with_name("spark_3_groups.scala"))


def assert_equal(answers: str, queries: int) -> None:
    lines = answers.splitlines()
    assert len(lines) == queries, answers
    for line in lines:
        found = re.search(r": (\d+) rows, (\d+) answers, equal$", line)
        assert found, line
        assert int(found[1]) > 0, line
        assert int(found[2]) > 0, line


def told(command: list[str | Path], **variables: str) -> str:
    """The lines that a program prints of queries; a shell is told to run."""
    environment = {it: os.environ[it] for it in os.environ if it != "SPARK_HOME"}
    done = subprocess.run(
        command,
        input="run()\n",
        capture_output=True,
        text=True,
        check=False,
        env=environment | variables,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    # Spark's progress bar may stand before it.
    return "\n".join(re.findall(r"[\w ]+, .*Provider: .*", done.stdout))
