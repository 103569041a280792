"""How advice is shown: as text, in a notebook, as JSON and by the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import keyfold
from keyfold.cli.main import cli
from keyfold.cli.output import TextOutput
from keyfold.doctor.partitions import fewer, more
from keyfold.doctor.report import NOTE, Advice, DoctorReport
from python.tests.doctor.patient import Patient

ADVICE = Advice(
    name="skew",
    measured="Partition 3 has 4.0 GiB of state, \x1b[31mthe others 1.0 MiB each, which is <b>.",
    change="Split the key.",
    brings="tasks of one length.",
    command="keyfold inspect '/data/a path that is not to be wrapped, as it is copied' skew",
)  # fmt: skip


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(cli, ["doctor", *arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def test_the_text_has_80_columns_and_commands_on_one_line() -> None:
    report = DoctorReport("/data/cp", (ADVICE,), (("state", "10 rows"),), ("A note.",), 5)
    assert str(report).splitlines() == [
        "/data/cp",
        "  state       10 rows",
        "",
        "skew",
        "  measured    Partition 3 has 4.0 GiB of state, \\u001b[31mthe others 1.0 MiB",
        "              each, which is <b>.",
        "  to change   Split the key.",
        f"              {ADVICE.command}",
        "  brings      tasks of one length.",
        "",
        "A note.",
        "1 thing to change.",
    ]


def test_what_is_to_know_comes_last_and_does_not_count() -> None:
    note = replace(ADVICE, name="key-groups", rank=NOTE)
    report = DoctorReport("/data/cp", (note, ADVICE), (), (), 5)
    lines = str(report).splitlines()
    assert [it for it in lines if it and it[0] != " "] == [
        "/data/cp",
        "skew",
        "To know",
        "key-groups",
        "1 thing to change.",
    ]
    assert not report.ok
    alone = DoctorReport("/data/cp", (note,), (), (), 5)
    assert alone.ok
    assert str(alone).endswith("Nothing to change.")
    assert alone.to_dict()["advice"][0]["rank"] == "note"
    assert "to know: key-groups" in alone._repr_html_()


def test_a_note_does_not_make_the_command_end_with_1(tmp_path: Path) -> None:
    patient = Patient(tmp_path / "cp", families={"strays": True})
    patient.write()
    assert "not-rescalable" in run(str(patient.root)).stdout


def test_a_terminal_that_is_narrow_does_not_break_a_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    report = DoctorReport("/data/cp", (ADVICE,), (), (), 5)
    TextOutput().value({}, str(report))
    assert f" {ADVICE.command}\n" in capsys.readouterr().out


def test_html_is_escaped() -> None:
    shown = DoctorReport("/<i>", (ADVICE,), (("<u>", "&"),), (), 5)._repr_html_()
    assert "<td" in shown
    for tag in ("<i>", "<b>", "<u>"):
        assert tag not in shown
        assert tag.replace("<", "&lt;").replace(">", "&gt;") in shown


def test_values_are_those_of_the_advice() -> None:
    report = DoctorReport("/data/cp", (ADVICE,), (("state", "10 rows"),), (), 5)
    found = json.loads(json.dumps(report.to_dict()))
    assert found == {
        "path": "/data/cp",
        "ok": False,
        "advice": [ADVICE.to_dict()],
        "facts": {"state": "10 rows"},
        "notes": [],
        "memory_bytes": 5,
    }
    assert found["advice"][0]["operator"] is None


def test_the_command_says_what_is_ill_and_ends_with_1(tmp_path: Path) -> None:
    patient = Patient(tmp_path / "cp", batches=12, rows=[100_000] * 3 + [10_000_000])
    patient.write()
    path = str(patient.root)
    assert run(path, code=1).stdout.endswith("1 thing to change.\n")
    (line,) = run(path, "-o", "json", code=1).stdout.splitlines()
    assert [it["name"] for it in json.loads(line)["advice"]] == ["skew"]


def test_the_command_ends_with_0_if_there_is_nothing_to_change(tmp_path: Path) -> None:
    patient = Patient(tmp_path / "cp", batches=12)
    patient.write()
    path = str(patient.root)
    shown = run(path, "--cores", "4", "--memory", "1g").stdout
    assert shown.endswith("Nothing to change.\n")
    assert "12 in the log, the last is 11, one begins every 60.0 s, each takes 2.0 s" in (
        " ".join(shown.split())
    )
    assert json.loads(run(path, "-o", "json").stdout)["ok"]
    assert "memory-budget" in run(path, "--memory", "20m", code=1).stdout


@pytest.mark.parametrize(
    "options", [["--cores", "0"], ["--memory", "much"], ["--memory", "0"], ["--memory", "4x"]]
)
def test_what_is_no_number_is_refused(tmp_path: Path, options: list[str]) -> None:
    patient = Patient(tmp_path / "cp", batches=1)
    patient.write()
    assert options[0] in run(str(patient.root), *options, code=2).stderr


@pytest.mark.parametrize("known", [{"cores": 0}, {"memory_bytes": 0}])
def test_what_is_no_number_is_refused_from_python(tmp_path: Path, known: dict[str, int]) -> None:
    patient = Patient(tmp_path / "cp", batches=1)
    patient.write()
    with pytest.raises(keyfold.KeyfoldError, match="KEYFOLD_INVALID_ARGUMENT"):
        keyfold.open_checkpoint(patient.root).doctor(**known)


def test_of_another_providers_checkpoint_the_migration_is_named(tmp_path: Path) -> None:
    patient = Patient(tmp_path / "cp", batches=1)
    patient.write()
    offsets = patient.root / "offsets/0"
    offsets.write_text(offsets.read_text().replace("io.keyfold.spark.Keyfold", "org.apache."))
    assert "keyfold migrate" in run(str(patient.root), code=3).stderr


@pytest.mark.parametrize(
    ("partitions", "needed", "to"),
    # Divisors of the partitions, else of the key groups, else what is needed.
    [(200, 8, 8), (200, 9, 10), (199, 8, 8), (199, 13, 24), (211, 13, 13)],
)
def test_fewer_partitions_are_such_that_suit_the_files(
    partitions: int, needed: int, to: int
) -> None:
    groups = {200: 4800, 199: 4776, 211: 211}[partitions]
    assert fewer(partitions, groups, needed) == to


@pytest.mark.parametrize(
    ("partitions", "groups", "needed", "to"),
    [(4, 5040, 20, 20), (4, 5040, 22, 24), (7, 7, 20, 21), (1, 5040, 11, 12)],
)
def test_more_partitions_are_a_multiple_that_divides_the_key_groups(
    partitions: int, groups: int, needed: int, to: int
) -> None:
    assert more(partitions, groups, needed) == to


def test_facts_are_those_of_the_batches_with_the_partitions_of_now(tmp_path: Path) -> None:
    patient = Patient(tmp_path / "cp", batches=30, interval_ms=1000, took_ms=500)
    patient.write()
    # Before a rescale, with other partitions and slower.
    for batch in range(15):
        offsets = patient.root / f"offsets/{batch}"
        offsets.write_text(offsets.read_text().replace('partitions": "4"', 'partitions": "8"'))
    shown = str(keyfold.open_checkpoint(patient.root).doctor())
    assert "one begins every 1.0 s" in " ".join(shown.split())
    for batch in range(15, 21):
        (patient.root / f"offsets/{batch}").unlink()
    shown = str(keyfold.open_checkpoint(patient.root).doctor())
    assert "one begins" not in shown
    assert "Fewer than 10 batches" in shown
