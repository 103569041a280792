"""The files in conf/kubernetes: by the schemas of Kubernetes, and of one mind with the page."""

from __future__ import annotations

import re
from typing import Any

import kubernetes_validate
import pytest
import yaml

from keyfold.settings import SPARK_LINES
from kit.installation import release_of
from kit.places import ROOT

FOLDER = ROOT / "conf" / "kubernetes"
TEMPLATES = ("driver.yaml", "executor.yaml")
DOCKERFILE = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")


def template(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    return found


def validate(pod: dict[str, Any]) -> None:
    kubernetes_validate.validate(pod, kubernetes_validate.latest_version(), strict=True)


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_are_pods(name: str) -> None:
    validate(template(name))


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_wrong_field_or_type_would_be_found(name: str) -> None:
    for field, value in (("volumeMount", []), ("volumeMounts", {})):
        pod = template(name)
        pod["spec"]["containers"][0][field] = value
        with pytest.raises(kubernetes_validate.ValidationError):
            validate(pod)


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_local_folder_is_a_disk_that_spark_takes(name: str) -> None:
    spec = template(name)["spec"]
    [container] = spec["containers"]
    # The names that Spark itself gives them.
    assert container["name"] == f"spark-kubernetes-{name.removesuffix('.yaml')}"
    [mount], [volume] = container["volumeMounts"], spec["volumes"]
    assert mount["name"] == volume["name"]
    assert re.fullmatch(r"spark-local-dir-\d+", volume["name"])
    [size] = volume["emptyDir"].items()
    assert size == ("sizeLimit", container["resources"]["requests"]["ephemeral-storage"])


def test_the_page_builds_the_image_that_it_names() -> None:
    [default] = re.findall(r"^ARG SPARK=(\S+)$", DOCKERFILE, re.MULTILINE)
    line = default.rpartition(".")[0]
    assert line in SPARK_LINES
    # The release that the project is tested on.
    assert default == release_of(line)
    [(built, tag)] = re.findall(r"docker build -f (\S+) .* -t \S+/(\S+) dist$", PAGE, re.MULTILINE)
    assert ROOT / built == FOLDER / "Dockerfile"
    assert tag == f"keyfold-spark:{default}"
    assert f"--build-arg SPARK={default} " in PAGE
    assert re.findall(r"^FROM registry/(\S+)$", PAGE, re.MULTILINE) == [tag]


def test_the_page_submits_with_files_that_are_there() -> None:
    for name in TEMPLATES:
        role = name.removesuffix(".yaml")
        assert f"spark.kubernetes.{role}.podTemplateFile=conf/kubernetes/{name} " in PAGE
    [copied] = re.findall(r"^COPY (check\.py .*) (/\S+)/$", PAGE, re.MULTILINE)
    for program in copied[0].split():
        assert f"local://{copied[1]}/{program}" in PAGE
    # The image that the program is copied into is the one that is submitted.
    [ours] = re.findall(r"docker build -t (\S+) \.$", PAGE, re.MULTILINE)
    assert f"spark.kubernetes.container.image={ours} " in PAGE
