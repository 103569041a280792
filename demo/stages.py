"""The year in three stages: the days that each one brings, and the partitions of the state."""

from dataclasses import dataclass
from math import ceil

from demo.workspace import Workspace


@dataclass(frozen=True)
class Stage:
    """Some day files, in the order of days, and the number of partitions that state has then."""

    files: slice
    partitions: int


# Two batches of absences each, which is why its last ones are as they must be.
STAGES = (
    Stage(slice(0, 122), 4),
    Stage(slice(122, 244), 6),
    Stage(slice(244, None), 3),
)
# The driver is killed half way, which is within this one.
KILLED = 1


def deliver(stage: Stage, workspace: Workspace) -> None:
    """Move the files of a stage to where the queries look for them, if they are not there yet."""
    for target in (workspace.flights, workspace.weather, workspace.limits):
        waiting = workspace.waiting / target.name
        target.mkdir(parents=True, exist_ok=True)
        files = sorted([*target.iterdir(), *waiting.iterdir()], key=lambda file: file.name)
        for file in files[stage.files]:
            file.replace(target / file.name)


def planned_batches(files: int, files_per_batch: int) -> int:
    """Count the batches that read `files` files: the last one of a stage may be smaller."""
    per_stage = (len(range(files)[stage.files]) for stage in STAGES)
    return sum(ceil(number / files_per_batch) for number in per_stage)
