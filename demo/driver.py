"""A Spark driver as a process of its own, which can be listened to and killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from demo.errors import DemoError
from demo.events import Event, received

LOG_LINES_SHOWN = 15

# Settings made for another Spark on the machine; this one must not run by them.
OTHERS = ("SPARK_", "PYSPARK_", "HADOOP_")


class Driver:
    """One `python -m <module>` and the JVM it starts, in one process group."""

    def __init__(self, module: str, arguments: list[str], log: Path) -> None:
        """Start the process; what it and Spark log is appended to `log`."""
        self._log = log
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(OTHERS)
        }
        # Functions in Python run in processes of their own; they need what this one has installed.
        environment["PYSPARK_PYTHON"] = sys.executable
        with log.open("a", encoding="utf-8") as stderr:
            self._process = subprocess.Popen(  # noqa: S603 - no shell, and no input of others
                [sys.executable, "-m", module, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=environment,
                text=True,
                encoding="utf-8",
                start_new_session=True,
            )

    def events(self) -> Iterator[Event]:
        """Yield what the process tells until it ends, and raise if it failed by itself."""
        if self._process.stdout is not None:
            yield from received(self._process.stdout)
        code = self._process.wait()
        if code != 0:
            tail = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
            shown = "\n".join(tail[-LOG_LINES_SHOWN:])
            raise DemoError(f"A driver ended with code {code}. The end of {self._log}:\n{shown}")

    def freeze(self) -> None:
        """Stop the process and its JVM where they stand."""
        os.killpg(self._process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen process go on."""
        os.killpg(self._process.pid, signal.SIGCONT)

    def close(self) -> None:
        """End the process and its JVM, without a chance to tidy up, and wait until both are gone.

        The JVM writes to the same pipe as the process that started it: only when both have died
        does the pipe come to its end. Nothing then writes to the checkpoint any more.
        Python that the JVM has started is in a group of its own: it ends when its pipe to the JVM
        does, and never writes to the checkpoint.
        """
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        if self._process.stdout is not None and not self._process.stdout.closed:
            self._process.stdout.read()
            self._process.stdout.close()
        self._process.wait()
