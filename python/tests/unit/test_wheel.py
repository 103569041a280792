"""What the wheel carries."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import keyfold
from keyfold.settings import SPARK_LINES, jar_name

PROJECT = Path(__file__).parents[2]
JARS = PROJECT / "src/keyfold/jars"


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


@pytest.mark.parametrize("line", SPARK_LINES)
def test_jar_of_each_line_is_inside(wheel: zipfile.ZipFile, line: str) -> None:
    jar = JARS / jar_name(line)
    if not jar.is_file():
        pytest.skip(f"{jar.name} is not built; run `make jars`")
    assert wheel.read(f"keyfold/jars/{jar.name}") == jar.read_bytes()
