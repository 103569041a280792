"""Where the checkpoints of a run are, and what it takes to reach them there."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

LOCAL: Final = "local"
S3: Final = "s3"
PLACES: Final = (LOCAL, S3)


@dataclass(frozen=True)
class Place:
    """The folder of all checkpoints.

    `url` is its name for Spark, which needs the settings `conf`, and for Keyfold's Python, which
    needs `storage_options`. `files` is where the files lie on this disk, so that the demo can look
    at them without asking the server. `counter` is asked for the numbers of requests, if any.
    """

    url: str
    files: str
    conf: dict[str, str] = field(default_factory=dict)
    storage_options: dict[str, str] = field(default_factory=dict)
    counter: str | None = None

    def checkpoint(self, query: str) -> str:
        """Where a query keeps its offsets, commits and state."""
        return f"{self.url}/{query}"

    def folder(self, query: str) -> Path:
        """Where the same lies on this disk."""
        return Path(self.files) / query

    def to_json(self) -> str:
        """Write it as an argument of a driver."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Place":
        """Read what `to_json` wrote."""
        return cls(**json.loads(text))
