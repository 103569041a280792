"""What driver and executors say of themselves, asked by SQL, also through Spark Connect.

Spark SQL's `reflect` calls a static method where the row is computed: on the driver if the row is a
literal one (the optimizer does), in a task if it comes from a range.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Timer
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from keyfold.session import bridge
from keyfold.settings import INSTANCES_KEY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BUILD = "io.keyfold.spark.conf.BuildInfo"
_FACTS = "io.keyfold.spark.setup.SetupFacts"
# For executors that have not registered yet, or have no core free.
_WAIT_S = 60
# Where nobody says how many there will be: this long after the last one has come, they are all.
_SETTLED_S = 4
_PAUSE_S = 0.5
# Spark deals out one task for each executor in turn; more, since a core may be busy.
_TASKS_OF_EXECUTOR = 3

_DYNAMIC_KEY = "spark.dynamicAllocation.enabled"
_MASTER_KEY = "spark.master"
# These give as many executors as are asked for, others what there is.
_MASTERS = re.compile("yarn|k8s")
_LOCAL_CLUSTER = re.compile(r"local-cluster\[\s*(\d+)")
_EXECUTORS_BY_DEFAULT = 2


@dataclass(frozen=True)
class Jar:
    """The jar that a JVM has: the line of Spark that it is made for, and Keyfold's version."""

    line: str
    version: str


@dataclass(frozen=True)
class DriverFacts:
    """The driver's; `settings` is what is wrong with Keyfold's, `executors` are ids."""

    extension: bool
    settings: str | None
    executors: tuple[str, ...]


@dataclass(frozen=True)
class Folder:
    """A folder for state that is beyond the budget; `problem` is why nothing can be written."""

    path: str
    free: int | None = None
    kind: str | None = None
    problem: str | None = None


@dataclass(frozen=True)
class Memory:
    """Sizes in bytes.

    `budget` is for state; the JVM keeps the first one, whatever `budget_set` is. `beside_heap` is
    what the JVM itself has taken off its heap by now, `off_heap` what Spark may take there. The
    cluster manager allows `overhead` beside the heap, if it limits it; `machine` is the memory of
    the machine, or of the container if that has a limit.
    """

    budget: int
    heap: int
    beside_heap: int
    machine: int
    budget_set: int | None = None
    off_heap: int | None = None
    overhead: int | None = None


@dataclass(frozen=True)
class ExecutorFacts:
    """An executor's; memory and folders are known if it has the same jar as the driver."""

    id: str
    host: str
    jar: Jar | None
    memory: Memory | None = None
    folders: tuple[Folder, ...] = ()


def jar_of_driver(spark: SparkSession) -> Jar | None:
    """The driver's jar; None if it has none."""
    # Of a class that is missing, an analysis would fail, and PySpark would log its stack.
    [[found]] = _on_driver(spark, _call("org.apache.spark.util.Utils", "classIsLoadable", _FACTS))
    if found != "true":
        return None
    [[line, version]] = _on_driver(spark, _call(_BUILD, "line"), _call(_BUILD, "version"))
    return Jar(line, version)


def driver(spark: SparkSession) -> DriverFacts | None:
    """The driver's facts; None if its jar, of another build, says other things of itself.

    It must have the jar for its Spark.
    """
    said = _of_driver(spark)
    try:
        return DriverFacts(said["extension"], said.get("settings"), tuple(said["executors"]))
    except (KeyError, TypeError):
        return None


def _of_driver(spark: SparkSession) -> dict[str, Any]:
    [[answer]] = _on_driver(spark, _call(_FACTS, "ofDriver"))
    said: dict[str, Any] = json.loads(answer)
    return said


def executors(
    spark: SparkSession, registered: tuple[str, ...]
) -> tuple[tuple[ExecutorFacts, ...], tuple[str, ...]]:
    """The facts of all executors, and those of whom nothing was heard, by their ids.

    Waits for as many as the session asks for, or until no more come, and for those that are busy,
    but not for long.
    """
    found: dict[str, ExecutorFacts] = {}
    asked_for = instances(spark)
    began = came = time.monotonic()
    known = set(registered)
    while True:
        if known or _is_dynamic(spark):
            tasks = len(known) * _TASKS_OF_EXECUTOR or 1
            left = max(began + _WAIT_S - time.monotonic(), _PAUSE_S)
            found |= {it.id: it for it in _ask_within(spark, tasks, left)}
        before, known = known, set(_of_driver(spark)["executors"])
        now = time.monotonic()
        came = now if known - before else came
        settled = now - came > _SETTLED_S if asked_for is None else len(known) >= asked_for
        if (settled and known and known <= found.keys()) or now > began + _WAIT_S:
            break
        time.sleep(_PAUSE_S)
    silent = sorted(known - found.keys(), key=_number)
    # Another may have gone meanwhile.
    return tuple(found[it] for it in sorted(known & found.keys(), key=_number)), tuple(silent)


def instances(spark: SparkSession) -> int | None:
    """How many executors the session asks for; None if that is not a fixed number."""
    master = spark.conf.get(_MASTER_KEY, "") or ""
    if local := _LOCAL_CLUSTER.match(master):
        return int(local[1])
    if master.startswith("local"):
        return 1
    if _is_dynamic(spark) or not _MASTERS.match(master):
        return None
    return int(spark.conf.get(INSTANCES_KEY, None) or _EXECUTORS_BY_DEFAULT)


def _is_dynamic(spark: SparkSession) -> bool:
    return str(spark.conf.get(_DYNAMIC_KEY, "false")).lower() == "true"


def _number(executor: str) -> tuple[int, str]:
    return (int(executor), "") if executor.isdecimal() else (-1, executor)


def _call(owner: str, *method_and_arguments: str, tried: bool = False) -> str:
    words = ", ".join(f"'{it}'" for it in (owner, *method_and_arguments))
    return f"{'try_reflect' if tried else 'reflect'}({words})"


def _on_driver(spark: SparkSession, *calls: str) -> list[Any]:
    return spark.sql(f"SELECT {', '.join(calls)} FROM VALUES (1)").collect()  # noqa: S608 - our own


def _ask_within(spark: SparkSession, tasks: int, seconds: float) -> list[ExecutorFacts]:
    """As `_ask`; none if that takes longer: other work may hold all cores for hours."""
    tag, is_late = f"keyfold-check-{uuid4()}", Event()
    cancel: Callable[[str], object]
    if bridge().is_connect_session(spark):
        add, cancel, remove = spark.addTag, spark.interruptTag, spark.removeTag
    else:
        # A classic session knows its tags in the thread only that has added them.
        context = spark.sparkContext
        add, cancel, remove = context.addJobTag, context.cancelJobsWithTag, context.removeJobTag

    def interrupt() -> None:
        is_late.set()
        cancel(tag)

    timer = Timer(seconds, interrupt)
    add(tag)
    timer.start()
    try:
        return _ask(spark, tasks)
    except Exception:
        if is_late.is_set():
            return []
        raise
    finally:
        timer.cancel()
        remove(tag)


def _ask(spark: SparkSession, tasks: int) -> list[ExecutorFacts]:
    """Those who have run one of the tasks."""
    rows = spark.range(0, tasks, 1, tasks).selectExpr(
        _call("java.lang.System", "getProperty", "sun.java.command", tried=True),
        # Null where the class is missing.
        _call(_BUILD, "line", tried=True),
        _call(_BUILD, "version", tried=True),
        _call(_FACTS, "ofExecutor", tried=True),
    )
    return [_executor(*row) for row in rows.collect()]


def _executor(
    command: str | None, line: str | None, version: str | None, answer: str | None
) -> ExecutorFacts:
    jar = None if line is None or version is None else Jar(line, version)
    if answer is None:
        # Executors have their names on their command line, with every cluster manager.
        identity = _option("executor-id", command), _option("hostname", command)
        return ExecutorFacts(*identity, jar)
    said = json.loads(answer)
    try:
        folders = tuple(Folder(**it) for it in said["folders"])
        return ExecutorFacts(said["id"], said["host"], jar, Memory(**said["memory"]), folders)
    except (KeyError, TypeError):
        # A jar of another build says other things of itself.
        return ExecutorFacts(said["id"], said["host"], jar)


def _option(name: str, command: str | None) -> str:
    found = re.search(rf"--{name} (\S+)", command or "")
    return found[1] if found else "unknown"
