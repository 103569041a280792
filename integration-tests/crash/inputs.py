"""What a query reads, files or topics of Kafka: adds to it, and knows what is in each batch."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from kit.queries.rows import Link, Row, line_of, write_file
from kit.servers.kafka import Kafka

ROWS, LINKS = STREAMS = "rows", "links"
# How far a query has read a stream: for each of its partitions, the number of chunks.
Position = Mapping[str, int]


class Input(ABC):
    """Two streams of partitions, each with chunks of rows in the order of reading."""

    def __init__(self) -> None:
        self._chunks: dict[str, dict[str, list[Sequence[Any]]]] = {it: {} for it in STREAMS}

    @property
    @abstractmethod
    def source(self) -> dict[str, str]:
        """What a driver needs to know of it, see `Job.start`."""

    @abstractmethod
    def add(self, file: int, rows: list[Row], links: list[Link]) -> None:
        """Adds the rows and links of a file to the streams."""

    @abstractmethod
    def position(self, offset: str) -> Position:
        """What an offset of Spark's log says."""

    def between(self, stream: str, before: Position, after: Position) -> list[Any]:
        """What is read from one position to another."""
        return [
            row
            for partition, end in after.items()
            for chunk in self._chunks[stream][partition][before.get(partition, 0) : end]
            for row in chunk
        ]

    def is_read(self, stream: str, position: Position) -> bool:
        """Whether a query at a position has read the whole stream."""
        return position == {it: len(chunks) for it, chunks in self._chunks[stream].items()}

    def _append(self, stream: str, partition: str, chunk: Sequence[Any]) -> None:
        self._chunks[stream].setdefault(partition, []).append(chunk)


class Files(Input):
    """A file is a chunk, and a batch reads one of each stream."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    @property
    def source(self) -> dict[str, str]:
        return {"files": str(self._folder)}

    def add(self, file: int, rows: list[Row], links: list[Link]) -> None:
        write_file(self._folder, file, rows, links)
        self._append(ROWS, "", rows)
        self._append(LINKS, "", links)

    def position(self, offset: str) -> Position:
        return {"": json.loads(offset)["logOffset"] + 1}


class Topics(Input):
    """A record is a chunk, and a batch reads as many as it is told. A key has one partition."""

    PARTITIONS = 3

    def __init__(self, kafka: Kafka, prefix: str) -> None:
        super().__init__()
        self._kafka, self._prefix = kafka, prefix
        for stream in STREAMS:
            kafka.create_topic(prefix + stream, self.PARTITIONS)

    @property
    def source(self) -> dict[str, str]:
        return {"kafka": self._kafka.address, "prefix": self._prefix}

    def add(self, file: int, rows: list[Row], links: list[Link]) -> None:
        del file
        self._send(ROWS, [(it.key, it) for it in rows])
        self._send(LINKS, [(str(it.ref), it) for it in links])

    def position(self, offset: str) -> Position:
        [partitions] = json.loads(offset).values()
        return {it: end for it, end in partitions.items() if end}

    def _send(self, stream: str, keyed: Sequence[tuple[str, Row | Link]]) -> None:
        placed = [(crc32(key.encode()) % self.PARTITIONS, it) for key, it in keyed]
        self._kafka.send(self._prefix + stream, [(it, line_of(row)) for it, row in placed])
        for partition, row in placed:
            self._append(stream, str(partition), [row])
