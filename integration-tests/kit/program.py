"""Programs of Spark's distribution, each with all that it starts."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from kit.installation import HERE, Installation
from kit.places import CLASS_DATA, INTEGRATION_TESTS

TIMEOUT_S = 240
POLL_S = 0.002
LOG_CHARACTERS_SHOWN = 4000

# Settings made for another Spark on the machine; this one must not run by them.
OTHERS = ("SPARK_", "PYSPARK_", "HADOOP_")

# JVMs that live for seconds, or a few minutes: half of the time went into optimising and verifying
# their classes. Hadoop starts `chmod` and `readlink` for each file; without a helper between them
# and the JVM that takes half as long.
PLAIN_JVM_OPTIONS = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
    " -Djdk.lang.Process.launchMechanism=VFORK"
)
JVM_OPTIONS = f"{PLAIN_JVM_OPTIONS} -XX:SharedArchiveFile={CLASS_DATA} -Xlog:cds*=error"


class Program:
    """A running program. The processes that it starts are in one process group with it."""

    def __init__(
        self,
        home: Path,
        command: list[str],
        log: Path,
        python: Path = HERE.python,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """Starts `bin/<command>` of the Spark in `home`; what it says goes to `log`."""
        environment = {
            **environment_of(home, python),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LAUNCHER_OPTS": JVM_OPTIONS,
            "SPARK_DAEMON_JAVA_OPTS": JVM_OPTIONS,
            "SPARK_DAEMON_MEMORY": "256m",
            **(variables or {}),
        }
        self._path = log
        with log.open("w") as file:
            self._process = subprocess.Popen(  # noqa: S603 - programs of our own choice
                [str(home / "bin" / command[0]), *command[1:]],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def log(self) -> str:
        """What it has said so far."""
        return self._path.read_text(errors="replace")

    @property
    def end_of_log(self) -> str:
        """As much of the log as fits a failure's message."""
        return f"The end of {self._path}:\n{self.log[-LOG_CHARACTERS_SHOWN:]}"

    def wait(self, timeout_s: float = TIMEOUT_S) -> int:
        """Its exit code, once it has ended; what it started may take a moment longer."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"Not ended in {timeout_s} s. {self.end_of_log}") from None

    def wait_until(self, happened: Callable[[], bool], what: str) -> None:
        """Returns once `happened`; fails if the program ends before, or it takes too long."""
        deadline = time.monotonic() + TIMEOUT_S
        while not happened():
            code = self._process.poll()
            if code is not None:
                raise AssertionError(f"Ended with {code} before {what}. {self.end_of_log}")
            if time.monotonic() > deadline:
                raise AssertionError(f"Not in {TIMEOUT_S} s: {what}. {self.end_of_log}")
            time.sleep(POLL_S)

    def wait_until_said(self, pattern: str) -> re.Match[str]:
        """Where in its log the pattern is, once it is there."""
        self.wait_until(lambda: re.search(pattern, self.log) is not None, pattern)
        return next(re.finditer(pattern, self.log))

    def jvms(self, word: str) -> Iterator[int]:
        """Process ids of its JVMs with a word in their command line, executors among them."""
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                command = (entry / "cmdline").read_text(errors="replace")
                is_jvm = command.partition("\0")[0].endswith("java") and word in command
                if is_jvm and os.getpgid(int(entry.name)) == self._process.pid:
                    yield int(entry.name)

    def kill_alone(self) -> None:
        """SIGKILL to the program, not to what it started: executors end when they notice."""
        self._process.kill()
        self._process.wait()

    def kill(self) -> None:
        """SIGKILL to the program and all that it started, or to what is left of them."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def home_in(folder: Path, of: Installation = HERE) -> Path:
    """PySpark's Spark under another path: executors write beside it, and not into the package."""
    home = folder / f"spark-{of.line}"
    if not home.exists():
        home.mkdir()
        for part in ("bin", "jars", "python"):
            (home / part).symlink_to(of.spark / part)
    return home


def environment_of(home: Path, python: Path = HERE.python) -> dict[str, str]:
    """What a process of the Spark in `home` is started with; its Pythons find these modules."""
    others = {it: os.environ[it] for it in os.environ if not it.startswith(OTHERS)}
    return {
        **others,
        "SPARK_HOME": str(home),
        "PYSPARK_PYTHON": str(python),
        "PYTHONPATH": str(INTEGRATION_TESTS),
    }
