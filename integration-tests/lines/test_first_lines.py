"""What a new user does, in clean environments: install the wheel, run the README's first lines."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from keyfold.settings import PROVIDER_CLASS, SPARK_LINES
from kit.installation import release_of
from kit.lines import EVERY_LINE
from kit.places import ROOT

INSTALL_S, QUERY_S = 900, 180
# In CI one on which the long tests run nothing else.
LINES = SPARK_LINES if EVERY_LINE else ("4.1",)
# The lines of Python, then a command and what it prints.
FIRST_LINES = re.compile(r"```python\n(import keyfold\n.*?)```\s+```\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(command, check=True, cwd=ROOT / "python", capture_output=True)
    [built] = target.glob("*.whl")
    return built


@pytest.mark.long
@pytest.mark.timeout(INSTALL_S + QUERY_S)
@pytest.mark.parametrize("line", LINES)
def test_the_wheel_and_a_pyspark_are_enough(tmp_path: Path, wheel: Path, line: str) -> None:
    environment = tmp_path / "venv"
    python = environment / "bin" / "python"
    run(tmp_path, INSTALL_S, sys.executable, "-m", "venv", environment)
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    # Without compiling what the query does not import: half of the time.
    run(tmp_path, INSTALL_S, *pip, "--no-compile", wheel, f"pyspark=={release_of(line)}")

    lines, shown = FIRST_LINES.search(readme()).groups()
    (tmp_path / "first.py").write_text(lines)
    printed = run(tmp_path, QUERY_S, python, "first.py")
    counts = dict(re.findall(r"^\| +(\d+)\| +(\d+)\|$", printed, re.MULTILINE))
    assert counts == dict.fromkeys("0123456789", "100")

    keyfold = environment / "bin" / "keyfold"
    command, answer = shown.split("\n", 1)
    words = shlex.split(command.removeprefix("$ keyfold "))
    assert run(tmp_path, QUERY_S, keyfold, *words).split() == answer.split()
    described = run(tmp_path, QUERY_S, keyfold, "describe", "counts")
    facts = dict(re.findall(r"^(\w+)  +(.+)$", described, re.MULTILINE))
    assert facts["provider"] == PROVIDER_CLASS
    assert facts["state"].startswith("10 rows")


def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


def run(folder: Path, timeout_s: float, *command: Path | str) -> str:
    done = subprocess.run(
        [str(it) for it in command],
        cwd=folder,
        timeout=timeout_s,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
