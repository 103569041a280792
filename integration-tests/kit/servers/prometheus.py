"""A real Prometheus, with the files of `conf/prometheus`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from kit.places import ROOT
from kit.servers.needed import NeededError, SkippingError
from kit.servers.s3 import free_port

FOLDER = ROOT / "conf" / "prometheus"
CONFIG, RULES = FOLDER / "prometheus.yml", FOLDER / "keyfold-rules.yml"
TARGET = "driver.example:4040"
SCRAPED_S = 1
START_TIMEOUT_S = 60

Labels = dict[str, str]


def program(name: str) -> str:
    """Where `prometheus` or `promtool` is.

    Raises:
        NeededError: it is nowhere; the message says what to install.
    """
    found = shutil.which(name)
    if found is None:
        required = os.environ.get("KEYFOLD_PROMETHEUS") == "required"
        reason = f"no {name} on the path; on Debian: apt-get install prometheus"
        raise (NeededError if required else SkippingError)(reason)
    return found


def promtool(*arguments: str | Path, cwd: Path = FOLDER) -> str:
    """What it says, whatever its exit code is."""
    command = [program("promtool"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, check=False, text=True, cwd=cwd)
    return f"{done.stdout}{done.stderr}exit code {done.returncode}"


def faster(expression: str) -> str:
    """The same where time is 60 times as fast: minutes become seconds, and hours minutes."""
    return re.sub(r"\b(\d+)([hm])\b", lambda it: it[1] + {"h": "m", "m": "s"}[it[2]], expression)


class Prometheus:
    """One that scrapes the metrics of a driver each second. Time passes fast in its rules."""

    def __init__(self, folder: Path, ui_port: int) -> None:
        """Starts one that keeps its data, its log and what it is set up with in `folder`."""
        port = free_port()
        config = CONFIG.read_text(encoding="utf-8").replace(TARGET, f"127.0.0.1:{ui_port}")
        config = re.sub(r"(_interval:) 15s", rf"\1 {SCRAPED_S}s", config)
        rules = faster(RULES.read_text(encoding="utf-8"))
        folder.mkdir()
        self.url = f"http://127.0.0.1:{port}"
        (folder / CONFIG.name).write_text(config)
        (folder / RULES.name).write_text(rules)
        self._log = folder / "prometheus.log"
        command = [
            program("prometheus"),
            f"--config.file={folder / CONFIG.name}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self._wait()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def all(self, expression: str) -> list[tuple[Labels, float]]:
        """What an expression comes to now: labels, without the name, and value of each series."""
        found = self._asked("query", query=expression)["result"]
        return [(it["metric"], float(it["value"][1])) for it in found]

    def value(self, expression: str) -> float | None:
        """The same of an expression that has one value, or none."""
        values = [value for _, value in self.all(expression)]
        assert len(values) <= 1, f"{expression}: {values}"
        return values[0] if values else None

    def samples(self, expression: str, last_s: int) -> int:
        """How many numbers a graph of the last seconds shows."""
        now = time.time()
        its = {"start": now - last_s, "end": now, "step": SCRAPED_S}
        found = self._asked("query_range", query=expression, **its)["result"]
        return sum(value != "NaN" for it in found for _, value in it["values"])

    def alerts(self) -> set[str]:
        """Names of those that fire."""
        its = self._asked("alerts")["alerts"]
        return {it["labels"]["alertname"] for it in its if it["state"] == "firing"}

    def _asked(self, what: str, **parameters: str | float) -> Any:
        with urllib.request.urlopen(f"{self.url}/api/v1/{what}?{urlencode(parameters)}") as answer:
            return json.load(answer)["data"]

    def _wait(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline and self._process.poll() is None:
            with (
                suppress(urllib.error.URLError, ConnectionError),
                urllib.request.urlopen(f"{self.url}/-/ready"),
            ):
                return
            time.sleep(0.1)
        self.close()
        log = self._log.read_text(errors="replace")[-4000:]
        raise RuntimeError(f"Prometheus has not started. The end of {self._log}:\n{log}")
