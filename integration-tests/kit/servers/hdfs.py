"""An HDFS of three data nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from kit.servers.server import Server

DATA_NODES = 3


class Hdfs(Server):
    """The file system at the URL `address`."""

    def __init__(self, folder: Path) -> None:
        """Starts it, with what it stores in a folder that is emptied."""
        super().__init__("HdfsMain", folder)

    def stop_data_node(self, number: int) -> None:
        """Stops one of the three, by its number from 0."""
        self.ask(f"stop {number}")

    def start_data_node(self, number: int) -> None:
        """Starts it again, with the blocks that it had."""
        self.ask(f"start {number}")

    def restart_name_node(self) -> None:
        """Returns when it has left safe mode."""
        self.ask("restart")

    def calls(self) -> Counter[str]:
        """How often each method of the name node was called since it was last started."""
        pairs = (it.partition("=") for it in self.ask("calls").split("\t") if it)
        return Counter({name: int(count) for name, _, count in pairs})

    def copy(self, path: str, folder: Path) -> None:
        """Copies a folder or file to a place of the local disk where nothing is."""
        self.ask(f"copy {path} {folder}")

    def names(self, path: str) -> list[str]:
        """What is in a folder; nothing if there is no such folder."""
        return [it for it in self.ask(f"list {path}").split("\t") if it]

    def exists(self, path: str) -> bool:
        return self.ask(f"exists {path}") == "true"


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
