"""Both ends of the queries: where their input comes from and where their results go."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

from demo.from_kit import from_kit
from demo.sink import DELTA, Sink
from demo.source import KAFKA, PARTITIONS, DayFiles, Source, Topics
from demo.workspace import FILES, INPUTS, Workspace


@dataclass(frozen=True)
class Ends:
    """One of `SOURCES` and one of `SINKS`, and what it takes to reach them.

    Spark needs the settings `conf`; `kafka` is the address of the Kafka that the input comes from.
    """

    source: str = FILES
    sink: str = FILES
    conf: dict[str, str] = field(default_factory=dict)
    kafka: str | None = None

    def source_in(self, workspace: Workspace) -> Source:
        """The source that brings the input of a workspace."""
        return DayFiles(workspace) if self.kafka is None else Topics(workspace, self.kafka)

    def sink_in(self, workspace: Workspace) -> Sink:
        """The sink for the results of a workspace."""
        return Sink(self.sink, workspace)

    def to_json(self) -> str:
        """Write it as an argument of a driver."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Ends":
        """Read what `to_json` wrote."""
        return cls(**json.loads(text))


@contextmanager
def ends(source: str, sink: str, workspace: Workspace) -> Iterator[Ends]:
    """Find the jars that are needed, and run a Kafka for as long as the run lasts, if asked for."""
    names = [it for it in (source, sink) if it in {KAFKA, DELTA}]
    if not names:
        yield Ends()
        return
    variables = f"SOURCE={source} SINK={sink}"
    conf = from_kit("demo.connect", variables).settings(names)
    if source == FILES:
        yield Ends(source, sink, conf)
        return
    topics = dict.fromkeys(INPUTS, PARTITIONS)
    with from_kit("demo.broker", variables).broker(workspace.kafka, topics) as address:
        yield Ends(source, sink, conf, address)
