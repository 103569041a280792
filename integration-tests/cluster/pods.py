"""Pods of Spark as processes of this machine, without containers."""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

from cluster.kubernetes_api import KubernetesApi, Object
from kit.places import ROOT
from kit.program import PLAIN_JVM_OPTIONS, POLL_S, TIMEOUT_S, Program, environment_of, home_in

# Keyfold looks whether its jar is beside Spark's, as in the image. A class from a symbolic link, or
# from the archive of classes, says where its jar was before: neither is here.
JVM = PLAIN_JVM_OPTIONS

# Where the image has Spark, and where the page puts programs.
SPARK, PROGRAMS = "/opt/spark", "/opt/programs"
HERE = "127.0.0.1"
BACKEND = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"


def image(folder: Path, release: str) -> Path:
    """A Spark into which the Dockerfile's own command has put the jar for a release of Spark."""
    home = home_in(folder)
    jars = home / "jars"
    sparks = jars.resolve()
    jars.unlink()
    jars.mkdir()
    for jar in sparks.glob("*.jar"):
        link_or_copy(jar, jars / jar.name)
    dockerfile = (ROOT / "conf" / "kubernetes" / "Dockerfile").read_text(encoding="utf-8")
    [command] = [it for it in dockerfile.splitlines() if it.startswith("RUN cp ")]
    command = command.removeprefix("RUN ").replace(SPARK, str(home))
    command = command.replace("python3", sys.executable)
    environment = {**environment_of(home), "SPARK": release}
    subprocess.run(["bash", "-ec", command], check=True, env=environment)  # noqa: S603, S607 - ours
    return home


class Pods:
    """Starts each pod that the API is given; each path of a container is in a folder of the pod."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.api = KubernetesApi(self._start)
        self._folder, self._home = folder, home
        self._programs: list[Program] = []

    def close(self) -> None:
        """Kills the processes, and ends the API."""
        for program in self._programs:
            program.kill()
        self.api.close()

    def driver(self) -> Program:
        """The driver, once it has started."""
        wait_until(lambda: bool(self._programs), "a driver has started")
        return self._programs[0]

    def _start(self, pod: Object) -> None:
        # The answer to Spark comes first: it creates what a pod mounts after the pod.
        Thread(target=self._run, args=(pod,)).start()

    def _run(self, pod: Object) -> None:
        name = pod["metadata"]["name"]
        [container] = pod["spec"]["containers"]
        mounts = {it["mountPath"]: it["name"] for it in container["volumeMounts"]}
        paths = {path: f"{self._folder}/{name}{path}" for path in mounts}
        paths[PROGRAMS] = f"{self._folder}{PROGRAMS}"
        volumes = {it["name"]: it for it in pod["spec"]["volumes"]}
        for path, volume in mounts.items():
            self._fill(Path(paths[path]), volumes[volume], paths)
        values = {it["name"]: value_of(it, name) for it in container["env"]}
        variables = {it: inside(value, paths) for it, value in values.items()}
        [role, *arguments] = [inside(it, paths) for it in container["args"]]
        starts = {"driver": self._driver, "executor": self._executor}
        command = starts[role](variables, arguments)
        log = self._folder / f"{name}.log"
        self._programs.append(Program(self._home, command, log, variables=variables))

    def _fill(self, folder: Path, volume: Object, paths: dict[str, str]) -> None:
        folder.mkdir(parents=True)
        if "configMap" in volume:
            found = self._config_map(volume["configMap"]["name"])
            # Without a choice of items, each is a file.
            chosen = volume["configMap"].get("items", [{"key": it, "path": it} for it in found])
            for it in chosen:
                text = found[it["key"]]
                # The template for executors is for containers of theirs.
                is_read_here = it["path"].endswith(".properties")
                (folder / it["path"]).write_text(inside(text, paths) if is_read_here else text)

    def _config_map(self, name: str) -> dict[str, str]:
        wait_until(lambda: ("configmaps", name) in self.api.kept, f"{name} is there")
        data: dict[str, str] = self.api.kept["configmaps", name]["data"]
        return data

    # What the entry point of Apache's image starts, with addresses that exist here.

    def _driver(self, _: dict[str, str], arguments: list[str]) -> list[str]:
        conf = {
            "spark.driver.bindAddress": HERE,
            "spark.driver.host": HERE,
            "spark.driver.port": 0,
            "spark.driver.blockManager.port": 0,
            "spark.ui.enabled": "false",
            "spark.kubernetes.driver.master": self.api.url,
            # Spark watches pods by a protocol that the API here does not speak; it asks as well.
            "spark.kubernetes.executor.enableApiWatcher": "false",
        }
        options = [it for name, value in conf.items() for it in ("--conf", f"{name}={value}")]
        options += ["--driver-java-options", JVM]
        return ["spark-submit", *options, "--deploy-mode", "client", *arguments]

    def _executor(self, variables: dict[str, str], _: list[str]) -> list[str]:
        java = shutil.which("java") or "java"
        options = [it for name, it in variables.items() if name.startswith("SPARK_JAVA_OPT_")]
        of = {
            "--driver-url": "SPARK_DRIVER_URL",
            "--executor-id": "SPARK_EXECUTOR_ID",
            "--cores": "SPARK_EXECUTOR_CORES",
            "--app-id": "SPARK_APPLICATION_ID",
            "--hostname": "SPARK_EXECUTOR_POD_IP",
            "--resourceProfileId": "SPARK_RESOURCE_PROFILE_ID",
            "--podName": "SPARK_EXECUTOR_POD_NAME",
        }
        arguments = [it for name, variable in of.items() for it in (name, variables[variable])]
        heap = f"-Xmx{variables['SPARK_EXECUTOR_MEMORY']}"
        class_path = f"{variables['SPARK_CONF_DIR']}:{self._home}/jars/*"
        options += [heap, "-cp", class_path]
        return [java, *JVM.split(), *options, BACKEND, *arguments]


def wait_until(happened: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not happened():
        if time.monotonic() > deadline:
            raise TimeoutError(f"Not in {TIMEOUT_S} s: {what}")
        time.sleep(POLL_S)


def link_or_copy(file: Path, to: Path) -> None:
    try:
        to.hardlink_to(file)
    except OSError:
        # On another disk.
        shutil.copy(file, to)


def value_of(variable: Object, pod: str) -> str:
    if "value" in variable:
        return str(variable["value"])
    fields: dict[str, Any] = {"status.podIP": HERE, "metadata.name": pod}
    return str(fields[variable["valueFrom"]["fieldRef"]["fieldPath"]])


def inside(text: str, paths: dict[str, str]) -> str:
    """The text with the paths of a container as they are here."""
    return re.sub("|".join(map(re.escape, paths)), lambda it: paths[it[0]], text)
