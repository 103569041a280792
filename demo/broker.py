"""A Kafka for the input of a run."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from demo.errors import DemoError
from kit.servers.kafka import Kafka
from kit.servers.needed import NeededError


@contextmanager
def broker(folder: Path, topics: dict[str, int]) -> Iterator[str]:
    """Run one with all its files in `folder` and topics of so many partitions; its address."""
    folder.mkdir(parents=True)
    try:
        kafka = Kafka(folder / "log")
    except (NeededError, RuntimeError) as error:
        raise DemoError(str(error)) from error
    with closing(kafka):
        for name, partitions in topics.items():
            kafka.create_topic(name, partitions)
        yield kafka.address
