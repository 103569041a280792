"""Every stateful operator from Python: its application ends half way, and another one goes on.

With KEYFOLD_BEGUN_ON=4.0 it goes on with what that line of Spark has left: golden checkpoints.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import keyfold
from kit.installation import HERE
from kit.lines import BEGUN_ON, RESCALES_OPEN_BATCHES
from kit.session import session
from operators.applications import AFTER, BEFORE, start
from operators.cases import Case
from operators.families import FAMILIES
from operators.golden import unpack
from operators.inputs import FILES, FILES_BEFORE, write_input

CASES = [
    pytest.param(family, case, id=case.name) for family, cases in FAMILIES.items() for case in cases
]


class Runs:
    """Runs the two applications of a family, with rescales between, when it is first asked for."""

    def __init__(self, spark: SparkSession, folder_of: Callable[[str], Path]) -> None:
        self._spark = spark
        self._folder_of = folder_of
        self._done: dict[str, Path | AssertionError] = {}

    def of(self, family: str) -> Path:
        if family not in self._done:
            try:
                self._done[family] = self._run(family)
            except AssertionError as failure:
                self._done[family] = failure
        done = self._done[family]
        if isinstance(done, AssertionError):
            raise done
        return done

    def _run(self, family: str) -> Path:
        folder = self._folder_of(family)
        if HERE.line == BEGUN_ON:
            write_input(folder, range(FILES_BEFORE))
            start(family, folder, HERE, BEGUN_ON)
        else:
            unpack(BEGUN_ON, family, folder)
        for case in FAMILIES[family]:
            home = folder / case.name
            if any(run["error"] for run in runs_of(home)):
                continue  # its own test says so
            if rescaled_open(case):
                lose_last_commit(home / "checkpoint")
            if case.rescaled:
                self._rescale(home)
        write_input(folder, range(FILES_BEFORE, FILES))
        start(family, folder, HERE, BEGUN_ON)
        return folder

    def _rescale(self, home: Path) -> None:
        """What speaks against it is kept in a file: it is about one case only."""
        checkpoint = home / "checkpoint"
        try:
            keyfold.rescale(checkpoint, AFTER, dry_run=False, spark=self._spark)
            said = "\n".join(map(str, keyfold.open_checkpoint(checkpoint).describe().problems))
        except keyfold.KeyfoldError as error:
            said = str(error)
        (home / "rescale.txt").write_text(said)


def runs_of(home: Path) -> list[dict[str, Any]]:
    """How the runs of a case went, the first one first."""
    return [json.loads(path.read_text()) for path in sorted(home.glob("run-*.json"))]


def rescaled_open(case: Case) -> bool:
    """Whether it is rescaled while its last batch is open: state written, not committed."""
    return case.rescaled and case.has_ids and RESCALES_OPEN_BATCHES


def lose_last_commit(checkpoint: Path) -> None:
    """As if the driver had been killed just before it wrote it."""
    last = max((it for it in (checkpoint / "commits").iterdir() if it.name.isdigit()), key=number)
    last.unlink()
    last.with_name(f".{last.name}.crc").unlink(missing_ok=True)


def number(entry: Path) -> int:
    return int(entry.name)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """With a session that rescales; the queries run in applications of their own."""
    with session(tmp_path_factory.mktemp("spark"), {}) as spark:
        yield Runs(spark, tmp_path_factory.mktemp)


@pytest.mark.timeout(1500)
@pytest.mark.parametrize(("family", "case"), CASES)
def test_restarted_half_way_it_says_what_batch_says(family: str, case: Case, runs: Runs) -> None:
    home = runs.of(family) / case.name
    went = runs_of(home)
    for which, run in enumerate(went):
        assert run["error"] is None, f"run {which}: {run['error']}"

    if case.rescaled:
        assert (home / "rescale.txt").read_text() == ""
    before, after = went
    assert before["application"] != after["application"]
    begun_again = rescaled_open(case)
    assert_both_had_input(
        before["progress"], after["progress"], apart=0 if begun_again else 1 + case.rescaled
    )
    for progress in before["progress"] + after["progress"]:
        assert_keyfold_had_the_state(progress, operators=len(case.operators))
    for metric in case.counted:
        assert total(after["progress"], metric) > 0, metric

    found, expected = Counter(case.final(batches_of(home))), Counter(case.answer())
    assert expected
    missing, unexpected = expected - found, found - expected
    assert (sorted(missing, key=str), sorted(unexpected, key=str)) == ([], []), case.name

    description = keyfold.open_checkpoint(home / "checkpoint").describe()
    assert description.problems == ()
    partitions = 1 if case.alone else AFTER if case.rescaled else BEFORE
    found_operators = [(it.name, it.partitions) for it in description.operators]
    assert found_operators == [(name, partitions) for name in case.operators]


def assert_both_had_input(before: list[Any], after: list[Any], *, apart: int) -> None:
    """Each run took its files, and the second began so many batches after the first's last one."""
    assert sum(progress["numInputRows"] for progress in before) > 0
    assert sum(progress["numInputRows"] for progress in after) > 0
    assert after[0]["batchId"] == before[-1]["batchId"] + apart


def assert_keyfold_had_the_state(progress: Any, *, operators: int) -> None:
    """Spark asks the provider for these metrics in each batch."""
    found = progress["stateOperators"]
    assert len(found) == operators
    assert all("keyfoldStateBytes" in operator["customMetrics"] for operator in found)


def total(batches: list[Any], metric: str) -> int:
    operators = (operator for progress in batches for operator in progress["stateOperators"])
    return sum(operator["customMetrics"].get(metric, 0) for operator in operators)


def batches_of(home: Path) -> dict[int, list[list[Any]]]:
    return {int(it.stem): json.loads(it.read_text()) for it in (home / "batches").iterdir()}
