"""A process with a Spark that does what it is told, and may be killed at any moment."""

import json
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from crash.sinks import TABLE_SETTINGS
from kit.connectors import DELTA, ICEBERG, KAFKA, RELEASES, connectors
from kit.installation import installation_of
from kit.places import TEST_CLASSES
from kit.program import JVM_OPTIONS, LOG_CHARACTERS_SHOWN, environment_of, home_in

JAVA = "spark.driver.extraJavaOptions"
ANSWER_S = 300
# What `keyfold.mem.checks` says, in threads too whose failure nobody else hears of.
WRONG_MEMORY = re.compile(
    "Invalid access to|is no live object|is live already|after it was freed|Cannot free 0x"
    "|is of no page|are free already"
)
# Threads that have to do with a query.
WORKING = ("Executor task", "stream execution", "state-store", "keyfold")


class CrashError(Exception):
    """Something that must not be; says what."""


class RefusedError(Exception):
    """Keyfold refuses, and says why."""


class SparkDriver:
    """Starts Spark in a process group of its own."""

    def __init__(self, folder: Path, settings: Mapping[str, str], line: str) -> None:
        """Starts that of a line.

        Its log, its files and what a crash of its JVM leaves are in `folder`.
        """
        folder.mkdir(parents=True)
        of = installation_of(line)
        with_tables = [DELTA, ICEBERG] if line in RELEASES[DELTA] else []
        classes = os.pathsep.join([TEST_CLASSES, connectors(line, KAFKA, *with_tables)])
        self.folder = folder
        java = f"{JVM_OPTIONS} -XX:ErrorFile={folder}/hs_err%p.log -XX:-CreateCoredumpOnCrash"
        told = {
            **settings,
            **(TABLE_SETTINGS if with_tables else {}),
            "spark.driver.extraJavaOptions": f"{java} {settings.get(JAVA, '')}",
            "spark.executor.extraJavaOptions": f"{java} {settings.get(JAVA, '')}",
            "spark.driver.extraClassPath": classes,
            "spark.executor.extraClassPath": classes,
            "spark.local.dir": str(folder / "local"),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.session.timeZone": "UTC",
        }
        self._log = folder / "spark.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - a program of our own
                [str(of.python), "-m", "crash.job", json.dumps(told)],
                env=environment_of(home_in(folder, of), of.python),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                bufsize=0,
            )
        self._read = b""
        self.answer()

    def ask(self, do: str, **arguments: Any) -> Any:
        """The answer to a command; raises CrashError if there is none, or it failed."""
        self.tell(do, **arguments)
        return self.answer()

    def tell(self, do: str, **arguments: Any) -> None:
        """Gives a command, whose answer is not waited for."""
        line = json.dumps({"do": do, **arguments}) + "\n"
        with suppress(BrokenPipeError):
            self._pipe(self._process.stdin).write(line.encode())

    def answer(self) -> Any:
        """The next answer."""
        pipe = self._pipe(self._process.stdout)
        deadline = time.monotonic() + ANSWER_S
        while b"\n" not in self._read:
            if not select.select([pipe], [], [], max(0, deadline - time.monotonic()))[0]:
                raise self.hangs(f"no answer in {ANSWER_S} s")
            more = os.read(pipe.fileno(), 1 << 16)
            if not more:
                raise CrashError(f"the driver died by itself. {self._why()}{self.end_of_log}")
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        told = json.loads(line)
        if "refused" in told:
            raise RefusedError(told["refused"])
        if "failed" in told:
            time.sleep(1)
            raise CrashError(f"{self._why()}{told['failed'][:LOG_CHARACTERS_SHOWN]}")
        return told["answer"]

    def kill(self) -> None:
        """SIGKILL to it and its JVM, and waits until nothing of them is left that writes."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        out = self._pipe(self._process.stdout)
        if not out.closed:
            while os.read(out.fileno(), 1 << 16):
                pass
            out.close()
            self._pipe(self._process.stdin).close()
        self._process.wait()
        while any(self._jvms("")):
            time.sleep(0.01)

    def has_halted(self) -> bool:
        """Whether its JVM has ended, if it had one."""
        return not any(self._jvms("SparkSubmit"))

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def check_alive(self) -> None:
        """Raises CrashError if a JVM has crashed, or would have if it did not check its memory."""
        if any(self.folder.glob("hs_err*")):
            raise CrashError(self._why())
        for log in [self._log, *self.folder.glob("spark/work/*/*/stderr")]:
            said = log.read_text(errors="replace")
            found = WRONG_MEMORY.search(said)
            if found:
                around = said[max(0, found.start() - 500) : found.end() + LOG_CHARACTERS_SHOWN]
                raise CrashError(f"memory is used that is not there, in {log}:\n{around}")

    @property
    def end_of_log(self) -> str:
        """What Spark said last."""
        log = self._log.read_text(errors="replace")
        return f"The end of {self._log}:\n{log[-LOG_CHARACTERS_SHOWN:]}"

    def _why(self) -> str:
        found = next(self.folder.glob("hs_err*"), None)
        if found is None:
            return ""
        lines = found.read_text(errors="replace").splitlines()
        native = [it for it in lines if it.startswith(("J ", "j ", "V ", "C "))]
        return "the JVM crashed: " + "\n".join([str(found), *lines[2:8], *native[:12]]) + "\n"

    def hangs(self, what: str) -> CrashError:
        """An error that says so, with what the JVM's threads are doing that work for a query."""
        began = self._log.stat().st_size
        for process in self._jvms(""):
            os.kill(process, signal.SIGQUIT)
        time.sleep(2)
        threads = self._log.read_bytes()[began:].decode(errors="replace").split("\n\n")
        shown = [it for it in threads if any(name in it[:200] for name in WORKING)]
        return CrashError("\n\n".join([what, *shown]))

    def kill_executor(self, chance: Random) -> int:
        """SIGKILL to one of its executors, if it has any yet; how many were killed."""
        found = sorted(self._jvms("CoarseGrainedExecutorBackend"))
        if not found:
            return 0
        os.kill(chance.choice(found), signal.SIGKILL)
        return 1

    def _jvms(self, word: str) -> Iterator[int]:
        """The JVMs of its process group that have a word in their command line."""
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
                is_jvm = command.partition("\0")[0].endswith("java") and word in command
                if is_jvm and os.getpgid(int(entry.name)) == self._process.pid:
                    yield int(entry.name)

    @staticmethod
    def _pipe(pipe: Any) -> Any:
        return pipe
