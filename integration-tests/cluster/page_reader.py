"""A reader of the page docs/cluster.md, who does what it says, block by block."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import keyfold
from kit.places import ROOT
from kit.program import Program, environment_of, home_in

_PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_BLOCK = re.compile(r'^```(\w*)(?: title="(.+?)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_VARIABLE = re.compile(r"^(?:export \w+=|\w+=\$).*\n", re.MULTILINE)
_DEFAULTS = "keyfold-defaults.conf"
_SERVER = "sc://localhost:15002"
RIGHT = "Keyfold is set up rightly."
_STORAGE, _INPUT = "/data/pipelines/clicks", "/data/clicks"


class Block(NamedTuple):
    """A block of code; the language is empty for what the page shows, the title but for files."""

    language: str
    title: str
    text: str


def sections() -> dict[str, list[Block]]:
    """The blocks of each section, by its heading."""
    _, *parts = _SECTION.split(_PAGE)
    return {
        heading: [Block(*it) for it in _BLOCK.findall(text)]
        for heading, text in zip(parts[::2], parts[1::2], strict=True)
    }


def without_sizes(text: str) -> str:
    """For comparisons of what the page shows: also of a size that executors have not all alike."""
    size = r"[\d.]+ [KMGT]iB"
    return re.sub(rf"{size} to {size}|{size}|\d\.\d$", "...", text, flags=re.MULTILINE)


class Reader:
    """Does what the page says. The programs that it names are on the path."""

    def __init__(
        self, folder: Path, stands_for: Mapping[str, str], conf: Mapping[str, str] | None = None
    ) -> None:
        """`stands_for` has what is here for what the page names; `conf` is the cluster's own."""
        self._folder = folder
        self._home = home_in(folder)
        self._stands_for = dict(stands_for)
        for shown in (_STORAGE, _INPUT):
            self._stands_for[shown] = f"{folder}{shown}"
        clicks = folder / _INPUT[1:]
        clicks.mkdir(parents=True)
        (clicks / "0.json").write_text('{"user": 1, "at": "2026-01-01T00:00:00Z"}\n')
        # What earlier blocks have set.
        self._variables = ""
        self._server: Program | None = None
        settings = (ROOT / "conf" / _DEFAULTS).read_text(encoding="utf-8")
        (folder / "conf").mkdir()
        (folder / "conf" / _DEFAULTS).write_text(
            "\n".join([settings, *(f"{key} {value}" for key, value in (conf or {}).items())])
        )
        programs = folder / "programs"
        programs.mkdir()
        self._write(programs / "python", f'exec {shlex.quote(sys.executable)} "$@"')
        command = "from keyfold.cli.main import cli; cli()"
        self._write(programs / "keyfold", f'exec python -c "{command}" "$@"')
        environment = environment_of(self._home)
        path = [str(programs), str(self._home / "bin"), environment["PATH"]]
        self._environment = environment | {
            "PATH": os.pathsep.join(path),
            "SPARK_LOCAL_IP": "127.0.0.1",
        }

    def follow(self, block: Block) -> str | None:
        """What a command or a cell prints; None for a file, a server, or what the page shows."""
        language, title, text = block
        for shown, real in self._stands_for.items():
            text = text.replace(shown, real)
        if title:
            (self._folder / title).parent.mkdir(exist_ok=True)
            (self._folder / title).write_text(text)
        elif "SparkConnectServer" in text:
            self._serve(text)
        elif language:
            command = [sys.executable, "-c", text]
            if language == "sh":
                command = ["bash", "-ec", self._variables + text]
                self._variables += "".join(_VARIABLE.findall(text))
            if "sc://" not in text:
                # Its executors have the cores that this application needs.
                self.close()
            return self._run(command)
        return None

    def close(self) -> None:
        """Ends the server."""
        if self._server is not None:
            self._server.kill()
            self._server = None

    def _serve(self, text: str) -> None:
        program, *options = shlex.split(text.replace("$jar", str(keyfold.jar_path())))
        # 0: any free port.
        conf = [
            "spark.connect.grpc.binding.port=0",
            f"spark.sql.warehouse.dir={self._folder}/tables",
        ]
        command = [program, *(it for one in conf for it in ("--conf", one)), *options]
        # It has a driver in it, but Spark sizes it as a daemon.
        memory = {"SPARK_DAEMON_MEMORY": "1g"}
        log = self._folder / "server.log"
        self._server = Program(self._home, command, log, variables=memory)
        port = self._server.wait_until_said(r"Connect server started at: \S+:(\d+)")[1]
        self._stands_for[_SERVER] = _SERVER.replace("15002", port)

    def _run(self, command: list[str]) -> str:
        done = subprocess.run(  # noqa: S603 - the page's
            command,
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            check=False,
            text=True,
        )
        if done.returncode != 0:
            raise AssertionError(f"{command}: {done.stdout} {done.stderr[-4000:]}")
        return done.stdout

    def _write(self, program: Path, line: str) -> None:
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o700)
