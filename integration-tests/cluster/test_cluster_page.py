"""The page docs/cluster.md, followed block by block on a standalone cluster."""

import os
import re
import shlex
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import keyfold
from cluster.standalone import Standalone
from kit.places import ROOT
from kit.program import Program, environment_of, home_in

# Sections whose blocks need another cluster: test_kubernetes follows them.
ELSEWHERE = ("Kubernetes",)
SECTION = re.compile(rf"^## (?:{'|'.join(ELSEWHERE)})\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
PAGE, LEFT_OUT = SECTION.subn("", (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8"))
assert len(ELSEWHERE) == LEFT_OUT
BLOCK = re.compile(r'^```(\w*)(?: title="(.+?)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
MASTER, SERVER = "spark://master:7077", "sc://localhost:15002"
RIGHT = "Keyfold is set up rightly."
STORAGE, INPUT = "/data/pipelines/clicks", "/data/clicks"


class Reader:
    """Does what the page says. The programs that it names are on the path."""

    def __init__(self, folder: Path, master: str) -> None:
        self._folder = folder
        self._home = home_in(folder)
        self._stands_for = {MASTER: master}
        for shown in (STORAGE, INPUT):
            self._stands_for[shown] = f"{folder}{shown}"
        clicks = folder / INPUT[1:]
        clicks.mkdir(parents=True)
        (clicks / "0.json").write_text('{"user": 1, "at": "2026-01-01T00:00:00Z"}\n')
        # What earlier blocks have set.
        self._variables = ""
        self._server: Program | None = None
        (folder / "conf").symlink_to(ROOT / "conf")
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

    def follow(self, language: str, title: str, text: str) -> str | None:
        """What a command or a cell prints; None for a file, a server, or what the page shows."""
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
                self._variables += "".join(re.findall(r"^\w+=\$.*\n", text, re.MULTILINE))
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
        self._stands_for[SERVER] = SERVER.replace("15002", port)

    def _run(self, command: list[str]) -> str:
        done = subprocess.run(
            command,
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            check=False,
            text=True,
        )
        assert done.returncode == 0, f"{command}: {done.stdout} {done.stderr[-4000:]}"
        return done.stdout

    def _write(self, program: Path, line: str) -> None:
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o700)


def without_sizes(text: str) -> str:
    return re.sub(r"[\d.]+ [KMGT]iB|\d\.\d$", "...", text, flags=re.MULTILINE)


@pytest.mark.skipif(sys.platform != "linux", reason="needs all addresses of 127.0.0.0/8")
@pytest.mark.long
@pytest.mark.timeout(600)
def test_each_command_of_the_page_ends_with_a_set_up_that_is_right(tmp_path: Path) -> None:
    blocks = BLOCK.findall(PAGE)
    with closing(Standalone(tmp_path)) as cluster, closing(Reader(tmp_path, cluster.url)) as reader:
        printed = [it for block in blocks if (it := reader.follow(*block)) is not None]
    # The command, spark-submit, a client of the server; a pipeline there, and without a server.
    command, job, client, served, alone, listed, notebook = map(str.rstrip, printed)
    assert [it.splitlines()[-1] for it in (command, job, client, notebook)] == [RIGHT] * 4
    # Spark's client of a server that ends may print an error of its own behind the last line.
    assert all(re.search(r": Run is COMPLETED\.$", it, re.MULTILINE) for it in (served, alone))
    setup, flows = [text.rstrip() for language, _, text in blocks if not language]
    assert without_sizes(command) == without_sizes(setup)
    assert listed.replace(str(tmp_path), "").split() == flows.split()
    state = keyfold.open_checkpoint(listed.split()[-1])["dedup"].only
    assert state.scan().to_arrow().num_rows == 1
