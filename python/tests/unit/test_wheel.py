"""What the wheel carries."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import keyfold
from keyfold.settings import JAR_NAME

PROJECT = Path(__file__).parents[2]
JAR = PROJECT / "src/keyfold/jars" / JAR_NAME


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    target = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(command, check=True, cwd=PROJECT, capture_output=True)
    (built,) = target.glob("*.whl")
    return zipfile.ZipFile(built)


def test_version_is_that_of_the_repository(wheel: zipfile.ZipFile) -> None:
    version = (PROJECT.parent / "VERSION").read_text(encoding="utf-8").strip()
    assert f"keyfold-{version}.dist-info/METADATA" in wheel.namelist()
    assert f"\nVersion: {version}\n" in wheel.read(f"keyfold-{version}.dist-info/METADATA").decode()
    assert keyfold.__version__ == version


def test_types_are_marked(wheel: zipfile.ZipFile) -> None:
    assert "keyfold/py.typed" in wheel.namelist()


@pytest.mark.skipif(not JAR.is_file(), reason=f"{JAR.name} is not built; run `make jar`")
def test_jar_is_inside(wheel: zipfile.ZipFile) -> None:
    assert wheel.read(f"keyfold/jars/{JAR_NAME}") == JAR.read_bytes()
