"""Queries and the check on a real YARN, which has room for two executors and one application."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import keyfold
from cluster.keyed_values import FILES, expected, rows_of, write_input
from cluster.page_reader import RIGHT, Reader, sections, without_sizes
from keyfold.settings import INSTANCES_KEY, JARS_KEY, MEMORY_KEY, PARTITIONS_KEY
from kit.installation import HERE
from kit.places import INTEGRATION_TESTS, ROOT
from kit.program import JVM_OPTIONS, Program, environment_of, home_in
from kit.servers.yarn import Pending, Yarn
from kit.submit import Spark

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

JOB = "cluster/aggregation_job.py"
CONFIGURATION = "/etc/hadoop/conf"
# Spark's own for executors of 1 GiB.
OVERHEAD = "384m"
PARTITIONS = 6


@pytest.fixture(scope="module")
def yarn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yarn]:
    with closing(Yarn(tmp_path_factory.mktemp("server") / "yarn")) as yarn:
        yield yarn


def conf_of(yarn: Yarn) -> dict[str, str]:
    options = ("driver", "executor", "yarn.am")
    return yarn.conf(HERE.spark) | {f"spark.{it}.extraJavaOptions": JVM_OPTIONS for it in options}


def check_of_a_large_budget(yarn: Yarn, folder: Path) -> subprocess.Popen[str]:
    """The command, with a budget that takes all of the overhead."""
    conf = {**conf_of(yarn), JARS_KEY: str(keyfold.jar_path()), MEMORY_KEY: OVERHEAD}
    return subprocess.Popen(
        [
            *(sys.executable, "-c", "from keyfold.cli.main import cli; cli()", "check", "--"),
            *("--master", "yarn"),
            *("--properties-file", str(ROOT / "conf" / "keyfold-defaults.conf")),
            *(it for key, value in conf.items() for it in ("--conf", f"{key}={value}")),
        ],
        env=environment_of(home_in(folder)) | {"HADOOP_CONF_DIR": yarn.address},
        stdout=subprocess.PIPE,
        text=True,
    )


def wait_until(program: Program, yarn: Yarn, applications: int) -> None:
    """Until so many applications wait, and a container for the one that runs."""

    def has_come() -> bool:
        time.sleep(0.1)
        pending = yarn.pending()
        return pending.applications == applications and pending.containers > 0

    program.wait_until(has_come, str(Pending(applications, 1)))


def test_a_query_goes_on_after_a_kill_and_is_rescaled_while_containers_are_waited_for_fault_4(
    yarn: Yarn, tmp_path: Path
) -> None:
    source, checkpoint, output = (tmp_path / name for name in ("in", "checkpoint", "out"))
    killed, go = tmp_path / "killed", tmp_path / "go"
    with closing(Spark(tmp_path, "yarn", variables={"HADOOP_CONF_DIR": yarn.address})) as spark:
        write_input(source, first=0)
        log = spark.run(JOB, source, checkpoint, output, killed, conf=conf_of(yarn))
        assert killed.exists()
        assert "ExecutorLostFailure" in log
        assert rows_of(output) == expected(FILES)

        write_input(source, first=FILES)
        conf = {
            **conf_of(yarn),
            # One more than there is room for; Spark begins with those that it has.
            INSTANCES_KEY: 3,
            "spark.scheduler.minRegisteredResourcesRatio": 0.5,
            PARTITIONS_KEY: PARTITIONS,
        }
        job = (INTEGRATION_TESTS / JOB, source, checkpoint, output)
        query = spark.start("cluster/waiting_job.py", go, *job, conf=conf)
        wait_until(query, yarn, applications=0)
        with check_of_a_large_budget(yarn, tmp_path) as check:
            wait_until(query, yarn, applications=1)
            go.touch()
            assert query.wait() == 0, query.end_of_log
            said, _ = check.communicate()
    assert rows_of(output) == expected(2 * FILES)
    description = keyfold.open_checkpoint(checkpoint).describe()
    assert (description.problems, description.operators[0].partitions) == ((), PARTITIONS)
    # The application that has waited.
    assert check.returncode == 1
    wrong = [it for it in said.splitlines() if it.startswith("WRONG")]
    assert len(wrong) == 1, said
    assert "a budget of 384.0 MiB and the " in wrong[0]
    assert wrong[0].endswith("do not fit into a memory overhead of 384.0 MiB")
    assert "Raise spark.executor.memoryOverhead to 768m" in said


def test_the_commands_of_the_page_find_a_set_up_that_is_right(yarn: Yarn, tmp_path: Path) -> None:
    [program] = [it for its in sections().values() for it in its if it.title == "check.py"]
    blocks = sections()["YARN"]
    reader = Reader(tmp_path, {CONFIGURATION: yarn.address}, conf_of(yarn))
    printed = [it for block in [program, *blocks] if (it := reader.follow(block)) is not None]
    command, _ = printed
    [shown] = [it.text.splitlines() for it in blocks if not it.language]
    assert command.splitlines()[-1] == RIGHT
    assert set(map(without_sizes, shown)) <= set(map(without_sizes, command.splitlines()))
    # The driver was in a container.
    assert RIGHT in yarn.output()
