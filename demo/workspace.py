"""The folders one run of the demo reads and writes."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# Where the input comes from and the results go, if nothing else is asked for.
FILES: Final = "files"

FLIGHTS, WEATHER, LIMITS = INPUTS = ("flights", "weather", "limits")


@dataclass(frozen=True)
class Workspace:
    """Names every path below the output folder; creates nothing by itself."""

    root: Path

    def input(self, name: str) -> Path:
        """One of `INPUTS` as far as it has come: replayed flights and weather, limits of delays.

        A file a day each.
        """
        return self.root / "input" / name

    def waiting(self, name: str) -> Path:
        """Files of it that are still to come."""
        return self.root / "input" / "waiting" / name

    @property
    def local(self) -> Path:
        """Spark's scratch space, kept here because a killed driver leaves its own behind."""
        return self.root / "local"

    @property
    def driver_log(self) -> Path:
        """What Spark and the driver processes log."""
        return self.root / "driver.log"

    @property
    def summary(self) -> Path:
        """The page that says what happened."""
        return self.root / "summary.md"

    @property
    def state(self) -> Path:
        """What Keyfold has read in the checkpoints."""
        return self.root / "state.txt"

    @property
    def checkpoints(self) -> Path:
        """The queries' checkpoints, if they are on this disk and not on a server."""
        return self.root / "checkpoints"

    @property
    def s3(self) -> Path:
        """What the S3 server has stored, and its log."""
        return self.root / "s3"

    @property
    def kafka(self) -> Path:
        """What the Kafka of the input has stored, and its log."""
        return self.root / "kafka"

    def result(self, query: str) -> Path:
        """What a query has written."""
        return self.root / "results" / query

    def clear(self) -> None:
        """Delete what an earlier run left, and only that: the folder may be the user's own."""
        for folder in ("input", "local", "checkpoints", "s3", "kafka", "results"):
            shutil.rmtree(self.root / folder, ignore_errors=True)
        for file in (self.driver_log, self.state, self.summary):
            file.unlink(missing_ok=True)
        self.root.mkdir(parents=True, exist_ok=True)
