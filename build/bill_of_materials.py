"""What a release contains and what it needs, in CycloneDX.

All that it contains is Keyfold's own: no library is inside the jars or the Python package. What
these need is marked as external, which is what CycloneDX calls parts that the user's side brings.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from xml.etree import ElementTree

import tomllib
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot7
from packageurl import PackageURL
from packaging.requirements import Requirement

PROJECT = Path(__file__).resolve().parents[1] / "python" / "pyproject.toml"
POM = {"": "http://maven.apache.org/POM/4.0.0"}


def bill_of_materials(dist: Path, version: str, epoch: int) -> str:
    """Describes the Python package's files in `dist`, and the jars in `dist/maven`.

    Args:
        dist: where the release is being put together.
        version: of Keyfold.
        epoch: when it was made, in seconds. The same text for the same files and time.
    """
    release = Component(name="keyfold", version=version, type=ComponentType.LIBRARY)
    release.licenses.add(LicenseExpression("Apache-2.0"))
    release.bom_ref.value = "keyfold"
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"keyfold-{version}-{epoch}"))
    bom.metadata.timestamp = datetime.fromtimestamp(epoch, timezone.utc)
    bom.metadata.component = release
    parts = dict([*python_parts(dist, version), *jvm_parts(dist / "maven", version)])
    for part, needed in parts.items():
        bom.components.add(part)
        bom.components.update(needed)
        bom.register_dependency(part, needed)
    bom.register_dependency(release, parts)
    return JsonV1Dot7(bom).output_as_string(indent=2) + "\n"


def python_parts(dist: Path, version: str) -> Iterator[tuple[Component, list[Component]]]:
    """Wheel and source archive, with what their metadata name."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    needed = [python_package(it) for it in project["dependencies"]]
    for file in sorted([*dist.glob("*.whl"), *dist.glob("*.tar.gz")]):
        yield (
            own(file, PackageURL("pypi", None, "keyfold", version, {"file_name": file.name})),
            needed,
        )


def jvm_parts(maven: Path, version: str) -> Iterator[tuple[Component, list[Component]]]:
    """The jar of each line of Spark, with what its POM names as provided."""
    for pom in sorted(maven.rglob("*.pom")):
        project = ElementTree.parse(pom).getroot()
        needed = [maven_artifact(it) for it in project.iterfind("dependencies/dependency", POM)]
        if not any(it.group == "org.apache.spark" for it in needed):
            # This Spark has no artifacts: PySpark's package is where its jars are.
            spark = project.findtext("properties/spark.version", namespaces=POM)
            needed.append(python_package(f"pyspark=={spark}"))
        name = project.findtext("artifactId", namespaces=POM)
        purl = PackageURL("maven", "io.keyfold", name, version)
        yield own(pom.with_suffix(".jar"), purl), needed


def own(file: Path, purl: PackageURL) -> Component:
    """A file of the release that users install."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return Component(
        name=purl.name,
        group=purl.namespace,
        version=purl.version,
        type=ComponentType.LIBRARY,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
        licenses=[LicenseExpression("Apache-2.0")],
        purl=purl,
        bom_ref=file.name,
    )


def python_package(requirement: str) -> Component:
    """A package that pip installs, in any of the versions that are named."""
    parsed = Requirement(requirement)
    return external(PackageURL("pypi", None, parsed.name), "pip", str(parsed.specifier))


def maven_artifact(dependency: ElementTree.Element) -> Component:
    """An artifact that is provided, in the version that was compiled against."""
    group, name, version, scope = (
        dependency.findtext(it, "", POM) for it in ("groupId", "artifactId", "version", "scope")
    )
    return external(PackageURL("maven", group, name, version), "maven-scope", scope)


def external(purl: PackageURL, key: str, value: str) -> Component:
    """What is not in the release. How it gets there is in a property."""
    return Component(
        name=purl.name,
        group=purl.namespace,
        version=purl.version,
        type=ComponentType.LIBRARY,
        is_external=True,
        properties=[Property(name=f"keyfold:{key}", value=value)],
        purl=purl,
        bom_ref=f"{purl} {value}",
    )
