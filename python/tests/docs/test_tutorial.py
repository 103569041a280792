"""Every block of docs/tutorial.md, run in order, prints what the page shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.session import ENVIRONMENT, NEEDS_JAR

# It starts Spark some twenty times.
pytestmark = [*NEEDS_JAR, pytest.mark.timeout(1800)]

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCK = re.compile(r'^```(\w+)(?: title="(.+?)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
# The folder that the page shows, and all else that differs from one run to the next.
FOLDER = "/home/you/tutorial"
VARIES = {
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}": "an id",
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC": "a moment",
    r"\d+ ms": "a duration",
    r"[\d.,]+ (bytes|B|KiB|MiB)": "a size",
    # Upkeep, which runs beside the query, decides how many files there are.
    r"(copied|deleted) \d+": r"\1 some",
    # A column is as wide as its sizes, and lines are filled up to the width of the widest.
    r" +": " ",
    r" $": "",
}


class Shell:
    """A shell that runs one command after the other, as a reader's does."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        bash = shutil.which("bash")
        assert bash
        self._log = folder / "stderr.log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [bash], cwd=folder, env=environment, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            )  # fmt: skip

    def run(self, command: str) -> str:
        """What it prints; fails if the command does."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{command}\necho end $?\n")
        process.stdin.flush()
        lines: list[str] = []
        for line in process.stdout:
            if line.startswith("end "):
                assert line == "end 0\n", f"{command}: {line}{self._log.read_text()[-4000:]}"
                break
            lines.append(line)
        return "".join(lines)

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """In a folder with the wheel; pip finds all else that it needs in this environment."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, check=True, cwd=ROOT / "python", capture_output=True)
    installed = tmp_path / "installed"
    installed.mkdir()
    for it in Path(sysconfig.get_path("purelib")).iterdir():
        if not it.name.startswith("keyfold"):
            (installed / it.name).symlink_to(it)
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INDEX": "1",
        "PYSPARK_SUBMIT_ARGS": ENVIRONMENT["PYSPARK_SUBMIT_ARGS"],
        "PYTHONPATH": str(installed),
    }
    made = Shell(tmp_path, environment)
    yield made
    made.close()


def commands(block: str) -> list[tuple[str, str]]:
    """The commands of a block, each with the output that follows it."""
    return [tuple(it.split("\n", 1)) for it in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]


def without_what_varies(text: str, folder: str) -> str:
    text = text.replace(folder, "FOLDER")
    for pattern, name in VARIES.items():
        text = re.sub(pattern, name, text, flags=re.MULTILINE)
    return text


def test_every_block_prints_what_the_page_shows(shell: Shell, tmp_path: Path) -> None:
    for language, file, text in BLOCK.findall(PAGE):
        if language == "console":
            for command, shown in commands(text):
                printed = without_what_varies(shell.run(command), str(tmp_path))
                assert printed == without_what_varies(shown, FOLDER), command
        else:
            (tmp_path / file).write_text(text, encoding="utf-8")
