"""Names that would be more than text to a terminal, a page or a picture."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import keyfold
from keyfold.cli.main import cli
from keyfold.report import pictures
from keyfold.report.growth import Size
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter

NAMES = ["\x1b[2J\x07", "<script>alert(1)</script>", "[/red]", "\u202etxt", "a\nb", "$\\frac{$"]


@pytest.mark.parametrize("name", NAMES)
def test_a_terminal_sees_text(fake: FakeCheckpoint, name: str) -> None:
    writer = StateWriter(fake)
    fake.operator(name=name)
    writer.batch({1: 1})
    for command in (["describe"], ["fsck"], ["inspect", "operators"]):
        verb, *more = [command[0], str(fake.root), *command[1:]]
        result = CliRunner().invoke(cli, [verb, *more])
        assert result.exit_code == 0, (result.output, result.exception)
        assert not {"\x1b", "\x07", "\u202e"} & set(result.output)
    assert name.replace("\x1b", "\\u001b").replace("\x07", "\\u0007").replace(
        "\u202e", "\\u202e"
    ).split("\n")[0] in str(keyfold.open_checkpoint(fake.root).describe())


@pytest.mark.parametrize("name", NAMES)
def test_a_page_sees_text(fake: FakeCheckpoint, tmp_path: Path, name: str) -> None:
    writer = StateWriter(fake)
    fake.operator(name=name)
    writer.batch({1: 1})
    opened = keyfold.open_checkpoint(fake.root)
    opened.report(tmp_path / "page.html")
    for html in (
        (tmp_path / "page.html").read_text(encoding="utf-8"),
        opened._repr_html_(),
        opened.fsck()._repr_html_(),
    ):
        assert "<script" not in html


def test_a_path_is_no_markup(tmp_path: Path) -> None:
    root = tmp_path / "a[/red]b"
    StateWriter(FakeCheckpoint(root)).batch({1: 1})
    result = CliRunner().invoke(cli, ["fsck", str(root)])
    assert result.exit_code == 0, result.exception
    assert "a[/red]b" in result.output


@pytest.mark.parametrize("name", NAMES[1:])
def test_a_name_in_a_picture_is_no_formula(name: str) -> None:
    svg = pictures.growth([Size(0, "0 other", 1, 1), Size(0, name, 2, 3)])
    assert "<script" not in svg
