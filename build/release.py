"""Completes `dist/`, which `make release` begins: what a release consists of, the same each time.

`sbt publish` has put the Maven artifacts of each line of Spark into `dist/maven`.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

from bill_of_materials import bill_of_materials

ROOT = Path(__file__).resolve().parents[1]
# What Maven Central wants beside each file. The first two are no protection, but still asked for.
ALGORITHMS = ("md5", "sha1", "sha256")
# Zip files know no time before it, and no reader needs one.
TIME_IN_ZIP = (1980, 1, 1, 0, 0, 0)


def python_packages(dist: Path, epoch: str) -> None:
    """Builds the source archive, and the wheel from it: so it is known to be complete."""
    command = [
        sys.executable,
        "-m",
        "build",
        "--no-isolation",
        "--outdir",
        str(dist),
        str(ROOT / "python"),
    ]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)  # noqa: S603 - ours


def maven_bundle(maven: Path, bundle: Path) -> None:
    """Packs the artifacts as a Maven repository has them, each with its checksums."""
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in artifacts(maven):
            name, content = file.relative_to(maven).as_posix(), file.read_bytes()
            pack(packed, name, content)
            for algorithm in ALGORITHMS:
                digest = hashlib.new(algorithm, content, usedforsecurity=False).hexdigest()
                pack(packed, f"{name}.{algorithm}", digest.encode("ascii"))


def artifacts(maven: Path) -> list[Path]:
    """Jars and POMs, in an order that does not depend on the file system."""
    return sorted(it for it in maven.rglob("*") if it.suffix in {".jar", ".pom"})


def pack(packed: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Adds a file that says nothing of the machine and the moment."""
    packed.writestr(zipfile.ZipInfo(name, TIME_IN_ZIP), content, zipfile.ZIP_DEFLATED)


def changes_of(version: str, changelog: str) -> str:
    """What the changelog says of a version. Fails if it says nothing."""
    for section in changelog.split("\n## ")[1:]:
        if section.startswith(f"[{version}]"):
            return f"## {section.strip()}\n"
    raise SystemExit(f"CHANGELOG.md has no section '## [{version}]': write what is new")


def checksums(dist: Path) -> None:
    """Writes the checksums of all files, as `sha256sum --check` reads them."""
    files = sorted(it for it in dist.iterdir() if it.is_file() and it.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(it.read_bytes()).hexdigest()}  {it.name}\n" for it in files]
    (dist / "SHA256SUMS").write_text("".join(lines), encoding="ascii")


def main() -> None:
    """Builds what is not there yet. Its time is that of the last commit."""
    dist = ROOT / "dist"
    version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    git = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    epoch = subprocess.run(git, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603 - ours
    (dist / "CHANGES.md").write_text(changes_of(version, changelog), encoding="utf-8")
    python_packages(dist, epoch)
    maven_bundle(dist / "maven", dist / f"keyfold-{version}-maven.zip")
    bill = bill_of_materials(dist, version, int(epoch))
    (dist / f"keyfold-{version}.cdx.json").write_text(bill, encoding="utf-8")
    checksums(dist)


if __name__ == "__main__":
    main()
