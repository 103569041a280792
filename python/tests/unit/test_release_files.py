"""What build/release.py makes of the artifacts, whatever they are."""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<artifactId>keyfold-spark_{line}_2.13</artifactId>
<properties><spark.version>{line}.9</spark.version></properties>
<dependencies>{dependencies}</dependencies></project>"""
DEPENDENCY = """<dependency><groupId>{}</groupId><artifactId>{}</artifactId>
<version>{}</version><scope>provided</scope></dependency>"""
SPARK = DEPENDENCY.format("org.apache.spark", "spark-sql_2.13", "4.0.9")
ZSTD = DEPENDENCY.format("com.github.luben", "zstd-jni", "1.5.7-7")
CHANGELOG = (
    "# Changelog\n\n## [0.1.10] - unreleased\n\n- Ten.\n\n## [0.1.1] - 2026-01-01\n\n- One.\n"
)


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> Any:
    # As Python does when it runs the script. Its folder cannot be imported from: `build` is a
    # package of PyPI's too.
    monkeypatch.syspath_prepend(ROOT / "build")
    import release  # noqa: PLC0415

    yield release
    for name in ("release", "bill_of_materials"):
        del sys.modules[name]


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    dist = tmp_path / "dist"
    for line, dependencies in (("4.3", ZSTD), ("4.0", SPARK + ZSTD)):
        artifact = f"keyfold-spark_{line}_2.13"
        folder = dist / "maven" / "io" / "keyfold" / artifact / "0.1.1"
        folder.mkdir(parents=True)
        (folder / f"{artifact}-0.1.1.jar").write_bytes(f"jar {line}".encode())
        (folder / f"{artifact}-0.1.1.jar.sha1").write_bytes(b"of an earlier jar")
        (folder / f"{artifact}-0.1.1.pom").write_text(
            POM.format(line=line, dependencies=dependencies)
        )
    (dist / "keyfold-0.1.1-py3-none-any.whl").write_bytes(b"wheel")
    (dist / "keyfold-0.1.1.tar.gz").write_bytes(b"sdist")
    return dist


def test_a_bundle_has_each_file_with_its_checksums(release: Any, dist: Path) -> None:
    bundle = dist / "bundle.zip"
    release.maven_bundle(dist / "maven", bundle)
    with zipfile.ZipFile(bundle) as packed:
        content = {name: packed.read(name) for name in packed.namelist()}
    jar = "io/keyfold/keyfold-spark_4.0_2.13/0.1.1/keyfold-spark_4.0_2.13-0.1.1.jar"
    assert len(content) == 2 * 2 * 4
    assert content[jar] == b"jar 4.0"
    assert content[f"{jar}.md5"].decode() == hashlib.md5(b"jar 4.0").hexdigest()  # noqa: S324 - asked for
    assert content[f"{jar}.sha1"].decode() == hashlib.sha1(b"jar 4.0").hexdigest()  # noqa: S324 - asked for
    assert content[f"{jar}.sha256"].decode() == hashlib.sha256(b"jar 4.0").hexdigest()


def test_a_bundle_is_the_same_at_another_time(release: Any, dist: Path) -> None:
    release.maven_bundle(dist / "maven", dist / "1.zip")
    for file in (dist / "maven").rglob("*.jar"):
        content = file.read_bytes()
        file.unlink()
        file.write_bytes(content)
    release.maven_bundle(dist / "maven", dist / "2.zip")
    assert (dist / "1.zip").read_bytes() == (dist / "2.zip").read_bytes()


def test_the_bill_of_materials_says_what_each_part_needs(release: Any, dist: Path) -> None:
    bill = json.loads(release.bill_of_materials(dist, "0.1.1", 1_700_000_000))
    needed = {it["ref"]: set(it.get("dependsOn", [])) for it in bill["dependencies"]}
    zstd = "pkg:maven/com.github.luben/zstd-jni@1.5.7-7 provided"
    assert needed["keyfold-spark_4.0_2.13-0.1.1.jar"] == {
        "pkg:maven/org.apache.spark/spark-sql_2.13@4.0.9 provided",
        zstd,
    }
    # No artifacts of this Spark are published.
    assert needed["keyfold-spark_4.3_2.13-0.1.1.jar"] == {"pkg:pypi/pyspark ==4.3.9", zstd}
    assert "pkg:pypi/pyarrow >=17" in needed["keyfold-0.1.1-py3-none-any.whl"]
    own = {it["bom-ref"]: it for it in bill["components"] if not it.get("isExternal")}
    assert set(own) == needed["keyfold"]
    [digest] = own["keyfold-spark_4.0_2.13-0.1.1.jar"]["hashes"]
    assert digest["content"] == hashlib.sha256(b"jar 4.0").hexdigest()


def test_the_bill_of_materials_is_valid_and_the_same_twice(release: Any, dist: Path) -> None:
    from cyclonedx.schema import SchemaVersion  # noqa: PLC0415 - slow
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415 - slow

    bill = release.bill_of_materials(dist, "0.1.1", 1_700_000_000)
    assert JsonStrictValidator(SchemaVersion.V1_7).validate_str(bill) is None
    assert release.bill_of_materials(dist, "0.1.1", 1_700_000_000) == bill


def test_the_changes_are_those_of_the_version(release: Any) -> None:
    assert release.changes_of("0.1.1", CHANGELOG) == "## [0.1.1] - 2026-01-01\n\n- One.\n"
    assert release.changes_of("0.1.10", CHANGELOG) == "## [0.1.10] - unreleased\n\n- Ten.\n"
    with pytest.raises(SystemExit, match=r"no section '## \[0\.1\]'"):
        release.changes_of("0.1", CHANGELOG)


def test_the_changelog_has_the_current_version(release: Any) -> None:
    version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    assert release.changes_of(version, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))


def test_checksums_are_of_all_files(release: Any, dist: Path) -> None:
    release.checksums(dist)
    sums = (dist / "SHA256SUMS").read_text(encoding="ascii")
    release.checksums(dist)
    assert (dist / "SHA256SUMS").read_text(encoding="ascii") == sums
    wheel, sdist = hashlib.sha256(b"wheel").hexdigest(), hashlib.sha256(b"sdist").hexdigest()
    assert sums == f"{wheel}  keyfold-0.1.1-py3-none-any.whl\n{sdist}  keyfold-0.1.1.tar.gz\n"
