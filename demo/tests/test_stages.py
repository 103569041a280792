"""The stages: every file comes once and in order, also where a stage is delivered again."""

import itertools
from pathlib import Path

from demo.stages import APART, STAGES, deliver, planned_batches
from demo.workspace import INPUTS, Workspace

FILES = 367


def names(folder: Path) -> list[str]:
    return sorted(it.name for it in folder.iterdir())


def test_a_stage_brings_its_days_of_each_input_and_no_others(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    written = [f"{number:03}.csv" for number in range(FILES)]
    for kind in INPUTS:
        workspace.waiting(kind).mkdir(parents=True)
        for name in written:
            (workspace.waiting(kind) / name).write_text(kind, encoding="utf-8")
    for stage, there in zip(STAGES, (122, 244, FILES), strict=True):
        for _ in ("the first time", "after a kill"):
            deliver(stage, workspace)
            for folder in map(workspace.input, INPUTS):
                assert names(folder) == written[:there]
                assert (folder / written[there - 1]).read_text(encoding="utf-8") == folder.name
    assert names(workspace.waiting("flights")) == []


def test_the_number_of_partitions_changes_from_each_stage_to_the_next() -> None:
    numbers = [stage.partitions for stage in STAGES]
    assert len(numbers) == 3
    assert all(one != other for one, other in itertools.pairwise(numbers))


def test_a_batch_does_not_take_files_of_two_stages() -> None:
    assert planned_batches(STAGES, FILES, 61) == 2 + 2 + 3
    assert planned_batches(STAGES, FILES, 20) == 7 + 7 + 7
    assert planned_batches(STAGES, FILES, 122) == 1 + 1 + 2
    assert planned_batches(APART, FILES, 122) == 1 + 1 + 1 + 1


def test_apart_are_the_same_stages_and_the_last_file() -> None:
    files = [range(FILES)[stage.files] for stage in APART]
    assert list(itertools.chain(*files)) == list(range(FILES))
    assert list(files[-1]) == [FILES - 1]
    assert [it.partitions for it in APART[:3]] == [it.partitions for it in STAGES]
    assert APART[3].partitions == APART[2].partitions
