"""The check of a set-up finds what is wrong on executors, and what keeps a driver from asking."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import keyfold
from kit.places import ROOT
from kit.program import JVM_OPTIONS, environment_of, home_in
from kit.submit import Conf, Spark

JOB = "cluster/check_job.py"
# In local-cluster nobody acts on it, but the check waits for both.
TWO: Conf = {"spark.executor.instances": 2}
OTHER_LINE = "4.1"
DEFAULTS = ("--properties-file", str(ROOT / "conf" / "keyfold-defaults.conf"))

Report = dict[str, Any]


def reports_of(path: Path) -> list[Report]:
    found: list[Report] = json.loads(path.read_text())
    return found


def wrong(report: Report) -> dict[str, Any]:
    """What is said of each thing that is wrong."""
    assert report["ok"] == all(it["ok"] for it in report["findings"])
    return {it["name"]: it for it in report["findings"] if not it["ok"]}


def checked(folder: Path, *options: str, code: int) -> Report:
    """What the command line says of a Spark that it starts with these options."""
    program = [sys.executable, "-c", "from keyfold.cli.main import cli; cli()"]
    command = [*program, "check", "-o", "json", "--", "--master", "local[1]"]
    command += ["--driver-java-options", JVM_OPTIONS, *options]
    environment = environment_of(home_in(folder))
    done = subprocess.run(
        command, env=environment, capture_output=True, check=False, text=True, cwd=folder
    )
    assert done.returncode == code, done.stderr
    found: Report = json.loads(done.stdout)
    return found


def test_executors_that_are_set_up_rightly_and_one_that_has_lost_its_folder(
    spark: Spark, tmp_path: Path
) -> None:
    spark.run(JOB, tmp_path / "result", "--without-folders", conf=TWO)
    right, without = reports_of(tmp_path / "result")
    assert wrong(right) == {}
    assert [it["id"] for it in right["executors"]] == ["0", "1"]
    for it in right["executors"]:
        # Of 1 GiB, the serial collector does not count one of its two survivor spaces.
        assert 0.9 < it["memory"]["heap"] / (1 << 30) <= 1
    found = wrong(without)
    assert list(found) == ["local disk"]
    assert found["local disk"]["value"].startswith("executor 0 on ")
    assert "executor 1" not in found["local disk"]["value"]
    assert "spark.local.dir" in found["local disk"]["remedy"]


def test_executors_without_the_jar_are_named(spark: Spark, tmp_path: Path) -> None:
    conf = {**TWO, "spark.sql.extensions": ""}
    spark.run(JOB, tmp_path / "result", conf=conf, jar="--driver-class-path")
    [report] = reports_of(tmp_path / "result")
    found = wrong(report)
    assert list(found) == ["extension", "jar on executors"]
    for number in (0, 1):
        assert f"executor {number} on " in found["jar on executors"]["value"]
    assert found["jar on executors"]["value"].count(": none") == 2
    assert "spark.jars" in found["jar on executors"]["remedy"]
    assert "spark.sql.extensions=" in found["extension"]["remedy"]


@pytest.mark.long
def test_executors_with_the_jar_of_another_line_are_named(spark: Spark, tmp_path: Path) -> None:
    conf = {**TWO, "spark.executor.extraClassPath": keyfold.jar_path(OTHER_LINE)}
    spark.run(JOB, tmp_path / "result", conf=conf)
    [report] = reports_of(tmp_path / "result")
    found = wrong(report)
    assert list(found) == ["jar on executors"]
    assert found["jar on executors"]["value"].count(f"for Spark {OTHER_LINE}") == 2


def test_a_driver_without_the_jar_is_told_to_take_it(tmp_path: Path) -> None:
    report = checked(tmp_path, *DEFAULTS, code=1)
    found = wrong(report)
    assert list(found) == ["jar on the driver"]
    assert found["jar on the driver"]["value"] == "none"
    assert f"with {keyfold.jar_path().name}" in found["jar on the driver"]["remedy"]
    assert report["executors"] == []


@pytest.mark.long
def test_a_driver_with_the_jar_of_another_line_is_told_which_it_needs(tmp_path: Path) -> None:
    report = checked(tmp_path, *DEFAULTS, "--jars", str(keyfold.jar_path(OTHER_LINE)), code=1)
    found = wrong(report)
    assert list(found) == ["jar on the driver"]
    assert f"for Spark {OTHER_LINE}" in found["jar on the driver"]["value"]
    assert f"with {keyfold.jar_path().name}" in found["jar on the driver"]["remedy"]


def test_the_command_line_sets_nothing_itself(tmp_path: Path) -> None:
    jar = ("--jars", str(keyfold.jar_path()))
    assert set(wrong(checked(tmp_path, *jar, code=1))) == {
        "provider", "checkpoint format", "file manager", "extension",
    }  # fmt: skip
    assert wrong(checked(tmp_path, *jar, *DEFAULTS, code=0)) == {}


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no folder in memory")  # noqa: S108
def test_a_local_folder_in_memory_is_no_disk(tmp_path: Path) -> None:
    options = ("--jars", str(keyfold.jar_path()), "--conf", "spark.local.dir=/dev/shm")
    found = wrong(checked(tmp_path, *DEFAULTS, *options, code=1))
    assert list(found) == ["local disk"]
    assert "is in memory (tmpfs)" in found["local disk"]["value"]
