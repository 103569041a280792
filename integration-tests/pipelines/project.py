"""A pipeline project and the server of Spark Connect that runs it, on one line of Spark."""

import json
import shlex
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import yaml

import keyfold
from kit.installation import Installation
from kit.places import INTEGRATION_TESTS, ROOT
from kit.program import Program, home_in

FLOWS = INTEGRATION_TESTS / "pipelines" / "flows.py"
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


class Project:
    """All of it is in `folder`: specification, input, tables, checkpoints."""

    def __init__(self, folder: Path, on: Installation) -> None:
        self.storage = folder / "storage"
        self._folder = folder
        self._on = on
        self._home = home_in(folder, on)
        (folder / "flows.py").symlink_to(FLOWS)
        (folder / "input").mkdir()
        conf = {
            "spark.connect.grpc.binding.port": 0,
            "spark.sql.warehouse.dir": folder / "tables",
            "spark.sql.session.timeZone": "UTC",
            "spark.ui.enabled": "false",
        }
        command = [
            *("spark-submit", "--class", SERVER, "--master", "local[2]"),
            *("--properties-file", str(ROOT / "conf" / "keyfold-defaults.conf")),
            *("--jars", str(keyfold.jar_path(on.line))),
            *(it for name, value in conf.items() for it in ("--conf", f"{name}={value}")),
            "spark-internal",
        ]
        memory = {"SPARK_DAEMON_MEMORY": "1g"}
        self._server = Program(self._home, command, folder / "server.log", on.python, memory)
        said = self._server.wait_until_said(r"Connect server started at: \S+:(\d+)")
        self._remote = f"sc://localhost:{said[1]}"

    def add(self, rows: Iterable[Mapping[str, int]]) -> None:
        """A file of rows in the input; `at` is in seconds."""
        number = len(list((self._folder / "input").iterdir()))
        lines = [
            json.dumps({**it, "at": datetime.fromtimestamp(it["at"], UTC).isoformat()}) + "\n"
            for it in rows
        ]
        (self._folder / "input" / f"{number}.json").write_text("".join(lines), encoding="utf-8")

    def run(self, configuration: Mapping[str, str]) -> None:
        """Runs the pipeline once, over what is new in the input."""
        own = {"input": str(self._folder / "input"), "sink": str(self._folder / "tables" / "first")}
        spec = {
            "name": "operators",
            "storage": self.storage.as_uri(),
            "libraries": [{"glob": {"include": "flows.py"}}],
            "configuration": {**own, **configuration},
        }
        path = self._folder / "spark-pipeline.yml"
        path.write_text(yaml.safe_dump(spec), encoding="utf-8")
        self._done("spark-pipelines", "run", "--remote", self._remote, "--spec", str(path))

    def keyfold(self, *arguments: str) -> None:
        """Runs a command of Keyfold with this line's Spark."""
        program = self._folder / "keyfold"
        line = f"{shlex.quote(str(self._on.python))} -c 'from keyfold.cli.main import cli; cli()'"
        program.write_text(f'#!/bin/sh\nexec {line} "$@"\n', encoding="utf-8")
        program.chmod(0o700)
        self._done(str(program), *arguments)

    def table(self, name: str) -> list[tuple[Any, ...]]:
        """The rows that were written so far."""
        folder = self._folder / "tables" / name
        rows = ds.dataset(folder, format="parquet").to_table()
        return [tuple(it.values()) for it in rows.to_pylist()]

    def _done(self, *command: str) -> None:
        log = self._folder / f"{len(list(self._folder.glob('*.log')))}.log"
        program = Program(self._home, list(command), log, self._on.python)
        try:
            code = program.wait()
        finally:
            program.kill()
        if code != 0:
            raise AssertionError(f"{program.end_of_log}\n{self._server.end_of_log}")

    def close(self) -> None:
        """Ends the server."""
        self._server.kill()
