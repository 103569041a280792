"""Checkpoints that each line of Spark left are read by Python, whatever line is installed."""

from collections import defaultdict
from pathlib import Path

import pytest

import keyfold
from keyfold.settings import SPARK_LINES
from operators.golden import FAMILIES, archive, unpack
from operators.inputs import FILES_BEFORE, rows_of

KEPT = [line for line in SPARK_LINES if archive(line).exists()]


def test_every_line_but_the_newest_is_kept() -> None:
    assert list(SPARK_LINES[:-1]) == KEPT


@pytest.mark.parametrize("line", KEPT)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_checkpoint_is_whole(tmp_path: Path, line: str, family: str) -> None:
    unpack(line, family, tmp_path)
    checkpoints = sorted(it.parent for it in tmp_path.glob("*/checkpoint/commits"))
    assert len(checkpoints) >= 9
    for path in checkpoints:
        checkpoint = keyfold.open_checkpoint(path)
        report = checkpoint.fsck(deep=True)
        assert report.findings == (), path.parent.name
        assert checkpoint.describe().problems == (), path.parent.name


@pytest.mark.parametrize("line", KEPT)
def test_the_rows_of_an_aggregation_are_those_of_the_input(tmp_path: Path, line: str) -> None:
    unpack(line, "builtin", tmp_path)
    groups = defaultdict(list)
    for file in range(FILES_BEFORE):
        for row in rows_of(file):
            groups[row.key].append(row)
    expected = {
        (key, len(its), sum(it.value for it in its), max(it.id for it in its))
        for key, its in groups.items()
    }
    state = keyfold.open_checkpoint(tmp_path / "aggregation by key/checkpoint")["agg"]
    rows = state.scan().to_arrow().to_pylist()
    found = {(*row["key"].values(), *row["value"].values()) for row in rows}
    assert found == expected
