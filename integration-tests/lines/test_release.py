"""`make release`: the same from two clean clones, and what Maven and its users need is in it."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree.ElementTree import parse

import pytest

from keyfold.settings import PROVIDER_CLASS, SPARK_LINES, jar_name
from kit.places import ROOT

# One line only: a clean build of all of them takes too long.
LINE = "4.2"
BUILD_S, MAVEN_S = 2400, 600
VERSION = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
ARTIFACT = f"keyfold-spark_{LINE}_2.13"
IN_REPOSITORY = f"io/keyfold/{ARTIFACT}/{VERSION}/{ARTIFACT}-{VERSION}"
POM = {"": "http://maven.apache.org/POM/4.0.0"}
PROJECT = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>user</groupId><artifactId>user</artifactId><version>1</version>
<repositories><repository><id>bundle</id><url>file://${{basedir}}/bundle</url></repository></repositories>
<dependencies><dependency>
  <groupId>io.keyfold</groupId><artifactId>{ARTIFACT}</artifactId><version>{VERSION}</version>
</dependency></dependencies></project>"""
# What Maven Central refuses a POM without.
REQUIRED = [
    *("name", "description", "url", "licenses/license/name", "licenses/license/url"),
    *("developers/developer/name", "scm/connection", "scm/url"),
]

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(2 * BUILD_S),
    # Two clean builds take longer than CI has left.
    pytest.mark.skipif("KEYFOLD_RELEASE" not in os.environ, reason="run `make test-release`"),
]


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return released_in(tmp_path_factory.mktemp("release") / "clone")


def test_two_clean_clones_release_the_same(dist: Path, tmp_path: Path) -> None:
    again = released_in(tmp_path / "at" / "another" / "path", umask=0o077, TZ="Asia/Tokyo")
    assert sums(again) == sums(dist)
    assert {it.name for it in dist.iterdir()} == {*sums(dist), "SHA256SUMS"}


def test_maven_takes_the_jar_from_the_bundle(dist: Path, tmp_path: Path) -> None:
    (tmp_path / "pom.xml").write_text(PROJECT)
    with zipfile.ZipFile(dist / f"keyfold-{VERSION}-maven.zip") as bundle:
        bundle.extractall(tmp_path / "bundle")
    # A repository of its own, so that no earlier jar of this version is there. -C: checksums count.
    local = tmp_path / "local"
    plugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
    path = tmp_path / "path"
    options = [f"-Dmdep.outputFile={path}", f"-Dmaven.repo.local={local}"]
    run(["mvn", "-B", "-q", "-C", plugin, *options], cwd=tmp_path, timeout=MAVEN_S)

    # What is provided to the jar is not on the path of who uses it.
    assert path.read_text() == str(local / f"{IN_REPOSITORY}.jar")
    with zipfile.ZipFile(path.read_text()) as jar:
        names = [it for it in jar.namelist() if not it.endswith("/")]
    assert PROVIDER_CLASS.replace(".", "/") + ".class" in names
    keyfolds = ("io/keyfold/", "org/apache/spark/sql/keyfold/", "META-INF/")
    assert [it for it in names if not it.startswith(keyfolds)] == []


def test_core_and_the_licence_are_in_each_jar(dist: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(dist / f"keyfold-{VERSION}-maven.zip") as bundle:
        bundle.extractall(tmp_path)
    names = {
        kind: set(zipfile.ZipFile(tmp_path / f"{IN_REPOSITORY}{kind}.jar").namelist())
        for kind in ("", "-sources", "-javadoc")
    }
    assert {"io/keyfold/store/VersionedStore.class", "META-INF/LICENSE"} <= names[""]
    assert {"io/keyfold/store/VersionedStore.scala", "META-INF/LICENSE"} <= names["-sources"]
    provider = PROVIDER_CLASS.replace(".", "/")
    assert {"io/keyfold/store/VersionedStore.html", f"{provider}.html"} <= names["-javadoc"]


def test_the_wheel_has_the_jar_of_the_bundle(dist: Path) -> None:
    with (
        zipfile.ZipFile(dist / f"keyfold-{VERSION}-maven.zip") as bundle,
        zipfile.ZipFile(dist / f"keyfold-{VERSION}-py3-none-any.whl") as wheel,
    ):
        assert wheel.read(f"keyfold/jars/{jar_name(LINE)}") == bundle.read(f"{IN_REPOSITORY}.jar")
        assert f"keyfold-{VERSION}.dist-info/licenses/LICENSE" in wheel.namelist()


@pytest.mark.parametrize("line", SPARK_LINES)
def test_the_pom_of_a_line_has_what_maven_central_asks_for(line: str) -> None:
    printed = run(["build/sbt", f"-DsparkLine={line}", "-error", "print spark/makePom"], cwd=ROOT)
    pom = parse(printed.split()[-1]).getroot()  # noqa: S314 - ours
    assert [it for it in REQUIRED if not pom.findtext(it, namespaces=POM)] == []
    assert pom.findtext("licenses/license/name", namespaces=POM) == "Apache-2.0"
    coordinates = [pom.findtext(it, "", POM) for it in ("groupId", "artifactId", "version")]
    assert coordinates == ["io.keyfold", f"keyfold-spark_{line}_2.13", VERSION]

    dependencies = pom.findall("dependencies/dependency", POM)
    assert {it.findtext("scope", "", POM) for it in dependencies} == {"provided"}
    of_spark = {
        it.findtext("artifactId", "", POM)
        for it in dependencies
        if it.findtext("groupId", "", POM) == "org.apache.spark"
    }
    # Nothing of Spark 4.3 is on Maven Central.
    assert of_spark == (set() if line == "4.3" else {"spark-sql_2.13"})
    assert str(pom.findtext("properties/spark.version", namespaces=POM)).startswith(f"{line}.")


def released_in(clone: Path, *, umask: int = -1, **variables: str) -> Path:
    """What a clone of the last commit releases, with the Python that runs these tests."""
    run(["git", "clone", "--quiet", ROOT, clone], cwd=ROOT, umask=umask)
    python = ["-o", f"{sys.prefix}/ready", f"VENV={sys.prefix}"]
    run(["make", "release", f"LINES={LINE}", *python], cwd=clone, umask=umask, **variables)
    return clone / "dist"


def sums(dist: Path) -> dict[str, str]:
    """Checksum of each file, by name."""
    lines = (dist / "SHA256SUMS").read_text(encoding="ascii").splitlines()
    return {name: digest for digest, name in (re.split(r" +", it) for it in lines)}


def run(
    command: list[str | Path], cwd: Path, *, timeout: float = BUILD_S, umask: int = -1, **more: str
) -> str:
    # What the make that runs these tests was told is not for the make of a clone.
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    done = subprocess.run(
        command,
        cwd=cwd,
        timeout=timeout,
        umask=umask,
        env={**inherited, **more},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
