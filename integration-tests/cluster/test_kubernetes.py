"""The page's commands for Kubernetes, against an API that starts pods as processes."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import kubernetes_validate
import pytest

from cluster.kubernetes_api import Object
from cluster.page_reader import sections
from cluster.pods import PROGRAMS, Pods, image
from kit.installation import HERE
from kit.lines import EVERY_LINE
from kit.places import INTEGRATION_TESTS, ROOT
from kit.program import environment_of, home_in

SUBMIT = re.compile(r"^spark-submit --master (k8s://\S+)(?:.*\\\n)+.*$", re.MULTILINE)
# What the page's command has.
PROGRAM = "check.py\n"
OVERHEAD = "spark.executor.memoryOverhead=2g"
# Or spark-submit asks for the state of the driver until that has ended.
NO_WAIT = "--conf spark.kubernetes.submission.waitAppCompletion=false"
MiB = 1 << 20

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@pytest.fixture
def pods(tmp_path: Path) -> Iterator[Pods]:
    programs = tmp_path / PROGRAMS[1:]
    programs.mkdir(parents=True)
    [check] = [it.text for its in sections().values() for it in its if it.title == "check.py"]
    (programs / "check.py").write_text(check)
    shutil.copy(INTEGRATION_TESTS / "cluster" / "check_job.py", programs)
    (tmp_path / "conf").symlink_to(ROOT / "conf")
    with closing(Pods(tmp_path, image(tmp_path, HERE.release))) as pods:
        yield pods


def submit(pods: Pods, folder: Path, **changes: str) -> str:
    """Runs the page's command, with changes to its text, and the program; what its driver says."""
    [found] = [it for block in sections()["Kubernetes"] for it in SUBMIT.finditer(block.text)]
    command = f"{found[0]}\n".replace(found[1], f"k8s://{pods.api.url} {NO_WAIT}")
    for name, value in changes.items():
        shown = globals()[name]
        assert shown in command
        command = command.replace(shown, value)
    home = home_in(folder)
    environment = environment_of(home)
    environment |= {"PATH": f"{home}/bin:{environment['PATH']}", "SPARK_LOCAL_IP": "127.0.0.1"}
    subprocess.run(["bash", "-ec", command], cwd=folder, env=environment, check=True)  # noqa: S607
    driver = pods.driver()
    assert driver.wait() == 0, driver.end_of_log
    return driver.log


def memory(pod: Object) -> int:
    """What a container may take, in bytes; it is what it asks for."""
    resources = pod["spec"]["containers"][0]["resources"]
    assert resources["requests"]["memory"] == resources["limits"]["memory"]
    return int(resources["limits"]["memory"].removesuffix("Mi")) * MiB


def test_each_object_is_valid_and_the_check_finds_a_set_up_that_is_right(
    pods: Pods, tmp_path: Path
) -> None:
    said = submit(pods, tmp_path)
    assert "Keyfold is set up rightly." in said
    # The image has the jar.
    assert "sending" not in said
    assert re.search(r"budget 1\.0 GiB, heap .*, overhead 2\.0 GiB", said)
    drivers, executors = pods.api.pods("driver"), pods.api.pods("executor")
    assert (len(drivers), len(executors)) == (1, 2)
    assert {memory(it) for it in executors} == {6 * 1024 * MiB}
    for it in pods.api.received:
        kubernetes_validate.validate(it, kubernetes_validate.latest_version(), strict=True)
    for it in drivers + executors:
        [container] = it["spec"]["containers"]
        local = {one["name"]: one["value"] for one in container["env"] if "value" in one}
        assert local["SPARK_LOCAL_DIRS"] == "/local"
        [disk] = [one["emptyDir"] for one in it["spec"]["volumes"] if "emptyDir" in one]
        assert disk.keys() == {"sizeLimit"}


@pytest.mark.skipif(not EVERY_LINE, reason="with KEYFOLD_EVERY_LINE: CI has 90 minutes")
def test_the_overhead_that_nobody_has_set_is_what_spark_asks_for(
    pods: Pods, tmp_path: Path
) -> None:
    result = tmp_path / "result"
    off_heap, python = 512 * MiB, 256 * MiB
    beside = (
        "spark.memory.offHeap.enabled=true",
        f"spark.memory.offHeap.size={off_heap}",
        f"spark.executor.pyspark.memory={python}b",
    )
    submit(
        pods,
        tmp_path,
        OVERHEAD=" --conf ".join(beside),
        PROGRAM=f"check_job.py {result}\n",
    )
    [report] = json.loads(result.read_text())
    [limit] = {memory(it) for it in pods.api.pods("executor")}
    heap = 4 * 1024 * MiB
    assert len(report["executors"]) == 2
    for it in report["executors"]:
        assert it["memory"]["overhead"] == limit - heap - off_heap - python
        assert it["memory"]["off_heap"] == off_heap
    # A program in Python: 0.4 of the heap.
    assert limit - heap - off_heap - python == int(0.4 * heap / MiB) * MiB
