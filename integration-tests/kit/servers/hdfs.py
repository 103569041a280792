"""An HDFS of three data nodes, in a process that obeys lines."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from kit.places import ROOT
from kit.servers.needed import needed

JAVA_ARGS = ROOT / "jvm/servers/target/java.args"
MAIN = "io.keyfold.servers.HdfsMain"
DATA_NODES = 3


class Hdfs:
    """The file system at `url`. `close` ends it; several threads may use it."""

    def __init__(self, folder: Path) -> None:
        """Starts it, with what it stores in a folder that is emptied.

        Raises:
            RuntimeError: it has not started; its log is beside the folder.
        """
        needed(JAVA_ARGS, f"{JAVA_ARGS} is missing; run `make servers`")
        self._lock = Lock()
        self._log = folder.with_suffix(".log")
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                ["java", "-Xmx512m", "-XX:+UseSerialGC", f"@{JAVA_ARGS}", MAIN, str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        try:
            self.url = self._answer()
        except BaseException:
            self.close()
            raise

    def stop_data_node(self, number: int) -> None:
        """Stops one of the three, by its number from 0."""
        self._ask(f"stop {number}")

    def start_data_node(self, number: int) -> None:
        """Starts it again, with the blocks that it had."""
        self._ask(f"start {number}")

    def restart_name_node(self) -> None:
        """Returns when it has left safe mode."""
        self._ask("restart")

    def calls(self) -> Counter[str]:
        """How often each method of the name node was called since it was last started."""
        pairs = (it.partition("=") for it in self._ask("calls").split("\t") if it)
        return Counter({name: int(count) for name, _, count in pairs})

    def copy(self, path: str, folder: Path) -> None:
        """Copies a folder or file to a place of the local disk where nothing is."""
        self._ask(f"copy {path} {folder}")

    def names(self, path: str) -> list[str]:
        """What is in a folder; nothing if there is no such folder."""
        return [it for it in self._ask(f"list {path}").split("\t") if it]

    def exists(self, path: str) -> bool:
        return self._ask(f"exists {path}") == "true"

    def close(self) -> None:
        """Ends it and forgets its files."""
        self._process.kill()
        self._process.communicate()

    def _ask(self, line: str) -> str:
        with self._lock:
            assert self._process.stdin
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
            return self._answer()

    def _answer(self) -> str:
        """What follows `ok` in its next line.

        Raises:
            RuntimeError: it says something else, or has ended.
        """
        assert self._process.stdout
        said = self._process.stdout.readline().rstrip("\n")
        word, _, rest = said.partition(" ")
        if word != "ok":
            log = self._log.read_text(errors="replace")[-4000:]
            raise RuntimeError(f"HDFS says {said!r}. The end of {self._log}:\n{log}")
        return rest


class HdfsFolder:
    """A folder or file; as much of a `Path` as tests need."""

    def __init__(self, hdfs: Hdfs, path: str) -> None:
        self._hdfs, self._path = hdfs, path

    @property
    def name(self) -> str:
        return self._path.rpartition("/")[2]

    def __truediv__(self, name: str, /) -> HdfsFolder:
        return HdfsFolder(self._hdfs, f"{self._path}/{name}")

    def is_dir(self) -> bool:
        return self.exists()

    def exists(self) -> bool:
        return self._hdfs.exists(self._path)

    def read_text(self) -> str:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "file"
            self._hdfs.copy(self._path, file)
            return file.read_text(encoding="utf-8")

    def iterdir(self) -> Iterator[HdfsFolder]:
        for name in self._hdfs.names(self._path):
            yield self / name
