"""PySparks to run applications on: the one of these tests, and those of other lines of Spark."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pyspark

from kit.places import ROOT


@dataclass(frozen=True)
class Installation:
    """A release of PySpark in a virtual environment that has Keyfold too."""

    release: str
    python: Path
    # The package, which has Spark's jars and programs in it.
    spark: Path

    @property
    def line(self) -> str:
        return ".".join(self.release.split(".")[:2])


HERE = Installation(
    pyspark.__version__, Path(sys.executable), Path(pyspark.__file__).resolve().parent
)


def release_of(line: str) -> str:
    """The release of PySpark that stands for a line, as the Makefile says."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [release] = re.findall(rf"^PYSPARK_{re.escape(line)} := (\S+)$", makefile, re.MULTILINE)
    return str(release)


def installation_of(line: str) -> Installation:
    """That of a line: the one of these tests, or one that is made at the first time."""
    if line == HERE.line:
        return HERE
    release = release_of(line)
    command = [str(ROOT / "build" / "pyspark"), release]
    made = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - ours
    folder = Path(made.stdout.strip())
    [package] = (folder / "lib").glob("python*/site-packages/pyspark")
    return Installation(release, folder / "bin" / "python", package)
