"""A server in a JVM of its own, which obeys the lines that it is given."""

from __future__ import annotations

import subprocess
from pathlib import Path
from threading import Lock

from kit.places import ROOT
from kit.servers.needed import needed

JAVA_ARGS = ROOT / "jvm/servers/target/java.args"


class Server:
    """One at `address`. `close` ends it; several threads may use it."""

    def __init__(self, main: str, folder: Path) -> None:
        """Starts a class of `io.keyfold.servers` with the folder that it keeps its files in.

        Raises:
            RuntimeError: it has not started; its log is beside the folder.
        """
        needed(JAVA_ARGS, f"{JAVA_ARGS} is missing; run `make servers`")
        self._lock = Lock()
        self._log = folder.with_suffix(".log")
        java = ["java", "-Xmx512m", "-XX:+UseSerialGC", f"@{JAVA_ARGS}"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*java, f"io.keyfold.servers.{main}", str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        try:
            self.address = self._answer()
        except BaseException:
            self.close()
            raise

    def ask(self, line: str) -> str:
        """The answer to a command.

        Raises:
            RuntimeError: the server cannot do it, or has ended.
        """
        with self._lock:
            assert self._process.stdin
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
            return self._answer()

    def close(self) -> None:
        """Ends it at once."""
        self._process.kill()
        self._process.communicate()

    def _answer(self) -> str:
        """What follows `ok` in its next line."""
        assert self._process.stdout
        said = self._process.stdout.readline().rstrip("\n")
        word, _, rest = said.partition(" ")
        if word != "ok":
            log = self._log.read_text(errors="replace")[-4000:]
            raise RuntimeError(f"The server says {said!r}. The end of {self._log}:\n{log}")
        return rest
