"""The year in three stages: the days that each one brings, and the partitions of the state."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from demo.workspace import INPUTS, Workspace


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
# A batch from Kafka takes records of all files that there are. The second closing row, which needs
# a batch of its own, then comes alone.
APART = (*STAGES[:-1], Stage(slice(244, 366), 3), Stage(slice(366, None), 3))
# The driver is killed half way, which is within this one.
KILLED = 1


def deliver(stage: Stage, workspace: Workspace) -> None:
    """Move the files of a stage to where the queries look for them, if they are not there yet."""
    for name in INPUTS:
        for file in files_of(stage, name, workspace):
            file.replace(workspace.input(name) / file.name)


def files_of(stage: Stage, name: str, workspace: Workspace) -> list[Path]:
    """Find a stage's files of one input, in order: each delivered, or still waiting."""
    target = workspace.input(name)
    target.mkdir(parents=True, exist_ok=True)
    files = [*target.iterdir(), *workspace.waiting(name).iterdir()]
    return sorted(files, key=lambda file: file.name)[stage.files]


def planned_batches(stages: Iterable[Stage], files: int, files_per_batch: int) -> int:
    """Count the batches that read `files` files: the last one of a stage may be smaller."""
    per_stage = (len(range(files)[stage.files]) for stage in stages)
    return sum(ceil(number / files_per_batch) for number in per_stage)
