"""Completes `dist/`, which `make release` begins: what a release consists of, the same each time.

`sbt publish` has put the Maven artifacts of each line of Spark into `dist/maven`.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import uuid
import zipfile
from datetime import datetime, timezone
from pathlib import Path

import tomllib
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
MAVEN = DIST / "maven"
VERSION = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
# Zip files know no time before it.
TIME_IN_ZIP = (1980, 1, 1, 0, 0, 0)


def python_packages(epoch: str) -> None:
    """Builds the wheel and the source archive."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(DIST)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch}
    subprocess.run(command, check=True, cwd=ROOT / "python", env=environment)  # noqa: S603 - ours


def maven_bundle() -> Path:
    """Packs the Maven artifacts as they are laid out, each with its checksums."""
    bundle = DIST / f"keyfold-{VERSION}-maven.zip"
    artifacts = [it for it in MAVEN.rglob("*") if it.suffix in {".jar", ".pom"}]
    for artifact in artifacts:
        digest = hashlib.sha256(artifact.read_bytes()).hexdigest()
        artifact.with_name(f"{artifact.name}.sha256").write_text(digest, encoding="ascii")
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(it for it in MAVEN.rglob("*") if it.is_file()):
            entry = zipfile.ZipInfo(str(file.relative_to(MAVEN)), TIME_IN_ZIP)
            packed.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return bundle


def bill_of_materials(epoch: str, files: list[Path]) -> None:
    """Writes what the release contains and needs, in CycloneDX.

    The jars contain Keyfold's own classes only. The Python package needs what its metadata say.
    """
    keyfold = Component(name="keyfold", version=VERSION, type=ComponentType.LIBRARY)
    keyfold.bom_ref.value = "keyfold"
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"keyfold-{VERSION}"))
    bom.metadata.timestamp = datetime.fromtimestamp(int(epoch), timezone.utc)
    bom.metadata.component = keyfold
    parts = [part_of(it) for it in files]
    project = tomllib.loads((ROOT / "python/pyproject.toml").read_text(encoding="utf-8"))
    needed = [needed_by(it) for it in project["project"]["dependencies"]]
    for component in (*parts, *needed):
        bom.components.add(component)
    bom.register_dependency(keyfold, needed)
    text = JsonV1Dot6(bom).output_as_string(indent=2)
    (DIST / f"keyfold-{VERSION}.cdx.json").write_text(text + "\n", encoding="utf-8")


def part_of(file: Path) -> Component:
    """A file of the release."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    component = Component(
        name=file.name,
        version=VERSION,
        type=ComponentType.FILE,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
    )
    component.bom_ref.value = file.name
    return component


def needed_by(requirement: str) -> Component:
    """A package that has to be installed too, in any of the versions that are named."""
    parsed = Requirement(requirement)
    component = Component(
        name=parsed.name, version=str(parsed.specifier), type=ComponentType.LIBRARY
    )
    component.bom_ref.value = parsed.name
    return component


def changes() -> None:
    """Copies what the changelog says of this version. Fails if it says nothing."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = f"## {VERSION}"
    sections = [it for it in text.split("\n## ")[1:] if f"## {it}".startswith(heading)]
    if not sections:
        raise SystemExit(f"CHANGELOG.md has no section {heading!r}: write what is new")
    (DIST / "CHANGES.md").write_text(f"## {sections[0].strip()}\n", encoding="utf-8")


def checksums() -> None:
    """Writes the checksums of all files, as `sha256sum --check` reads them."""
    files = sorted(it for it in DIST.iterdir() if it.is_file() and it.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(it.read_bytes()).hexdigest()}  {it.name}\n" for it in files]
    (DIST / "SHA256SUMS").write_text("".join(lines), encoding="ascii")


def main() -> None:
    """Builds what is not there yet, of the last commit's time."""
    git = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    epoch = subprocess.run(git, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603 - ours
    python_packages(epoch)
    maven_bundle()
    changes()
    archives = sorted(it for it in DIST.iterdir() if it.suffix in {".whl", ".gz", ".zip"})
    jars = sorted(MAVEN.rglob(f"*-{VERSION}.jar"))
    bill_of_materials(epoch, [*archives, *jars])
    checksums()


if __name__ == "__main__":
    main()
