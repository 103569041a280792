"""Every command that looks at a checkpoint, on a checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

import keyfold
from keyfold.cli.main import cli

INSPECTED = (
    "partitions", "files", "snapshots", "deltas", "references", "groups", "column-families",
    "skew", "batches", "operators",
)  # fmt: skip


def every_verb_works(checkpoint: Path) -> None:
    """Each says something and ends with 0, as text and as JSON; rows agree with one another."""
    for verb in (["describe"], ["fsck", "--deep"], *(["inspect", it] for it in INSPECTED)):
        _says(verb[0], checkpoint, *verb[1:])
    page = checkpoint.parent / "report.html"
    _run("report", str(checkpoint), str(page))
    assert "</html>" in page.read_text(encoding="utf-8")
    for operator in keyfold.open_checkpoint(checkpoint).operators:
        for name in operator.tables:
            _table_works(checkpoint, f"{operator.id}/{name}")


def _table_works(checkpoint: Path, table: str) -> None:
    rows = _lines(_run("scan", str(checkpoint), table, "-n", "-1", "-o", "json"))
    _run("scan", str(checkpoint), table)
    if rows:
        key = json.dumps(rows[0]["key"])
        same = [it for it in rows if it["key"] == rows[0]["key"]]
        got = _lines(_run("get", str(checkpoint), table, key, "-o", "json"))
        assert sorted(map(repr, got)) == sorted(map(repr, same)), table
        _run("get", str(checkpoint), table, key)
        history = _lines(_run("history", str(checkpoint), table, key, "-o", "json"))
        assert history, table
    for output in ("text", "json"):
        _run("diff", str(checkpoint), table, "-2", "-1", "-o", output)


def _says(verb: str, checkpoint: Path, *options: str) -> None:
    for output in ("text", "json"):
        said = _run(verb, str(checkpoint), *options, "-o", output)
    _lines(said)


def _run(*arguments: str) -> str:
    result = CliRunner().invoke(cli, list(arguments))
    assert result.exit_code == 0, f"{arguments}: {result.output}"
    return result.stdout


def _lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]
