"""A Kafka of one broker."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile

from kit.servers.server import Server


class Kafka(Server):
    """The broker at `address`, for `kafka.bootstrap.servers`."""

    def __init__(self, folder: Path) -> None:
        """Starts it, with its logs in a folder that is not there yet."""
        super().__init__("KafkaMain", folder)

    def create_topic(self, name: str, partitions: int) -> None:
        """Makes a topic."""
        self.ask(f"topic {name} {partitions}")

    def send(self, topic: str, records: Iterable[tuple[int, str]]) -> None:
        """Appends records: each a partition, and a value of one line."""
        with NamedTemporaryFile("w", encoding="utf-8") as file:
            file.writelines(f"{partition}\t{value}\n" for partition, value in records)
            file.flush()
            self.ask(f"send {topic} {file.name}")
