"""Spark applications as users start them: `spark-submit`, with the jar and the settings we ship."""

from collections.abc import Mapping
from pathlib import Path

import keyfold
from kit.installation import HERE, Installation
from kit.places import INTEGRATION_TESTS, ROOT
from kit.program import JVM_OPTIONS, TIMEOUT_S, Program, home_in

# Two executors, each a JVM of its own with one core and 1 GiB.
LOCAL_CLUSTER = "local-cluster[2,1,1024]"
PARTITIONS = 4

# Names of settings in full; values as Python prints them.
Conf = Mapping[str, object]


class Spark:
    """Starts applications that keep their logs in `folder`, and ends what is left of them."""

    def __init__(
        self,
        folder: Path,
        master: str = LOCAL_CLUSTER,
        on: Installation = HERE,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = folder
        self._master = master
        self._on = on
        self._variables = variables
        self._started: list[Program] = []

    def start(
        self, job: str, *arguments: Path | str, conf: Conf | None = None, jar: str = "--jars"
    ) -> Program:
        """Starts a job, by its path from `integration-tests`.

        `jar` is the option that names Keyfold's.
        """
        settings: Conf = {
            "spark.sql.shuffle.partitions": PARTITIONS,
            "spark.ui.enabled": "false",
            "spark.executor.extraJavaOptions": JVM_OPTIONS,
            **(conf or {}),
        }
        command = [
            "spark-submit",
            *("--master", self._master),
            *("--properties-file", str(ROOT / "conf" / "keyfold-defaults.conf")),
            *(jar, str(keyfold.jar_path(self._on.line))),
            *("--driver-java-options", JVM_OPTIONS),
        ]
        for name, value in settings.items():
            command += ["--conf", f"{name}={value}"]
        command += [str(INTEGRATION_TESTS / job), *map(str, arguments)]
        number = len(list(self._folder.glob("*.log")))
        log = self._folder / f"{number}-{Path(job).stem}.log"
        home = home_in(self._folder, self._on)
        program = Program(home, command, log, self._on.python, self._variables)
        self._started.append(program)
        return program

    def run(
        self,
        job: str,
        *arguments: Path | str,
        conf: Conf | None = None,
        jar: str = "--jars",
        timeout_s: float = TIMEOUT_S,
    ) -> str:
        """Runs a job to its end, which must be a good one; its log."""
        program = self.start(job, *arguments, conf=conf, jar=jar)
        if program.wait(timeout_s) != 0:
            raise AssertionError(program.end_of_log)
        return program.log

    def close(self) -> None:
        """Kills what still runs."""
        for program in self._started:
            program.kill()
